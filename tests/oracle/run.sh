#!/bin/sh
# run.sh PYTHON test_x.py | --make: runs the tests of a file, or makes the
# checkpoints of Orbax that they need. Exit status 77: skipped, with the reason.
here=$(dirname "$0")
python=$1
shift
if [ ! -x "$python" ]; then
  echo "SKIPPED no $python with $here/requirements.txt: tools/check makes one"
  exit 77
fi
if [ "$1" = --make ]; then
  exec "$python" "$here/checkpoints.py"
fi
"$python" -m pytest -q -rs -p no:cacheprovider "$@"
status=$?
if [ $status = 5 ]; then exit 77; fi # nothing was collected: a module skipped
exit $status

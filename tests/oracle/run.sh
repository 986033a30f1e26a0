#!/bin/sh
# run.sh PYTHON test_x.py|--make PROGRAM...: runs the tests of a file with
# pytest, or makes the checkpoints of Orbax that they need. The programs are what
# tests drive: oracle_tool, ocdbt_tool, lm. Exit status 77: skipped, with the
# reason.
here=$(dirname "$0")
python=$1
what=$2
shift 2
for program; do
  case $program in
    */oracle_tool) export CAIRN_ORACLE_TOOL="$program" ;;
    */lm) export CAIRN_LM="$program" ;;
  esac
done
export PYTHONDONTWRITEBYTECODE=1
if [ ! -x "$python" ]; then
  echo "SKIPPED no $python with $here/requirements.txt: tools/check makes one"
  exit 77
fi
if [ "$what" = --make ]; then
  exec "$python" "$here/checkpoints.py"
fi
exec "$python" -m pytest -q -rs -p no:cacheprovider -W ignore "$what"

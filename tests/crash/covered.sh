#!/bin/sh
# covered.sh LIBRARY SHIM: every function of libc that LIBRARY calls and that
# changes files is one that SHIM counts, or the tests here would not see it.
set -eu
changing='open|openat|creat|fopen|fdopen|freopen|write|pwrite|writev|pwritev
pwritev2|sendfile|copy_file_range|splice|fsync|fdatasync|sync|syncfs|msync
sync_file_range|truncate|ftruncate|fallocate|posix_fallocate|rename|renameat
renameat2|link|linkat|symlink|symlinkat|unlink|unlinkat|remove|rmdir|mkdir
mkdirat|mknod|mkstemp|mkostemp|mkdtemp|tmpfile|close|flock|lockf|syscall'
pattern="^($(echo "$changing" | tr '\n' '|'))(64)?\$"
calls=$(nm -D --undefined-only "$1" | sed 's/.* //; s/@.*//' |
  grep -E "$pattern")
counted=$(nm -D --defined-only "$2" | sed 's/.* //')
missing=
for call in $calls; do
  case "$call" in
  fopen64) ;; # reads /proc only: checkpoint/process.c
  syscall) ;; # userfaultfd only: snapshot/uffd.c
  *) echo "$counted" | grep -qx "$call" || missing="$missing $call" ;;
  esac
done
if test -n "$missing"; then
  echo "not counted by the shim:$missing"
  exit 1
fi

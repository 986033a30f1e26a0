# test_fs_faults.c makes system calls of the library fail or fall short.
target_link_options(unit_io PRIVATE
  LINKER:--wrap=open64,--wrap=fstat64,--wrap=pread64,--wrap=pwritev64
  LINKER:--wrap=fdatasync,--wrap=fsync,--wrap=close)

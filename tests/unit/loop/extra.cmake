# test_memory.c makes allocations of the library fail: calls of malloc and its
# kin in what is linked statically go through it.
target_link_options(unit_loop PRIVATE LINKER:--wrap=malloc,--wrap=calloc)

# test_memory.c and test_threads.c make calls of the library fail: those of
# malloc, calloc and pthread_create in what is linked statically go to them.
target_link_options(unit_loop PRIVATE LINKER:--wrap=malloc,--wrap=calloc,--wrap=pthread_create)

# test_memory.c and test_threads.c make calls of the library fail: those of
# malloc, calloc and pthread_create in what is linked statically go to them.
target_link_options(unit_loop PRIVATE LINKER:--wrap=malloc,--wrap=calloc,--wrap=pthread_create)

# Criterion does not start under the thread sanitizer (support/plain says why).
if(CAIRN_SANITIZE MATCHES thread)
  target_include_directories(unit_loop BEFORE PRIVATE support/plain)
  target_sources(unit_loop PRIVATE support/plain/main.c)
endif()

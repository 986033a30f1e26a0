# test_memory.c makes allocations of the library fail: calls of malloc and its
# kin in what is linked statically go through it.
target_link_options(unit_loop PRIVATE LINKER:--wrap=malloc,--wrap=calloc)

# Criterion does not start under the thread sanitizer (support/plain says why).
if(CAIRN_SANITIZE MATCHES thread)
  target_include_directories(unit_loop BEFORE PRIVATE support/plain)
  target_sources(unit_loop PRIVATE support/plain/main.c)
endif()

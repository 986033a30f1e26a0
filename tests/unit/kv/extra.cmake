# test_memory_out.c makes allocations of the library fail: those in what is linked
# statically go to it.
target_link_options(unit_kv PRIVATE
  LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=strdup,--wrap=strndup)

# Criterion does not start under the thread sanitizer (support/plain says why).
if(CAIRN_SANITIZE MATCHES thread)
  target_include_directories(unit_kv BEFORE PRIVATE support/plain)
  target_sources(unit_kv PRIVATE support/plain/main.c)
endif()

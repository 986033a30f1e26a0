# test_memory.c refuses the n-th allocation of the library.
target_link_options(unit_manager PRIVATE
  LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=strdup,--wrap=strndup)

# test_tree_memory.c refuses the n-th allocation.
target_link_options(unit_tree PRIVATE
  LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray
  LINKER:--wrap=aligned_alloc)

# test_plan_memory.c refuses the n-th allocation.
target_link_options(unit_strategy PRIVATE
  LINKER:--wrap=calloc,--wrap=reallocarray)

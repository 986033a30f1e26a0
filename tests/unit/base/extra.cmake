# jansson is the second opinion about JSON; the wraps let test_memory.c refuse
# the n-th allocation.
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
target_link_libraries(unit_base PRIVATE PkgConfig::JANSSON)
target_link_options(unit_base PRIVATE
  LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc)

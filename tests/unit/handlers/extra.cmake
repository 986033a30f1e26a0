# SHA-256 of restored leaves, compared with what the fixtures state.
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
target_include_directories(unit_handlers PRIVATE ${CMAKE_SOURCE_DIR}/handlers)
target_link_libraries(unit_handlers PRIVATE PkgConfig::CRYPTO)
# So that test_faults.c can refuse the n-th allocation.
target_link_options(unit_handlers PRIVATE LINKER:--wrap=malloc,--wrap=calloc
  LINKER:--wrap=realloc,--wrap=reallocarray)

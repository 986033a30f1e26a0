# cairn_flags: what all our targets are compiled with.
set(CAIRN_SANITIZE "" CACHE STRING "address, thread, undefined, or a comma list")
option(CAIRN_FUZZ "Build the libFuzzer targets and no other program (needs clang)" OFF)
option(CAIRN_WERROR "Warnings are errors" OFF)

if(CAIRN_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "CAIRN_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
endif()
if(CAIRN_FUZZ AND CAIRN_SANITIZE)
  message(FATAL_ERROR "CAIRN_FUZZ brings its own sanitizers: leave CAIRN_SANITIZE empty")
endif()

add_library(cairn_flags INTERFACE)
target_compile_definitions(cairn_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(cairn_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wformat-security -Wpointer-arith -Wundef
  -Wno-missing-field-initializers
  -fno-strict-aliasing
  $<$<BOOL:${CAIRN_WERROR}>:-Werror>)

set(cairn_sanitizers ${CAIRN_SANITIZE})
if(CAIRN_FUZZ)
  set(cairn_sanitizers address,undefined)
  target_compile_options(cairn_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(cairn_sanitizers)
  # The first finding ends the program, stacks are whole, asserts are on.
  target_compile_options(cairn_flags INTERFACE -fsanitize=${cairn_sanitizers}
    -fno-sanitize-recover=all -fno-omit-frame-pointer -UNDEBUG)
  target_link_options(cairn_flags INTERFACE -fsanitize=${cairn_sanitizers})
endif()

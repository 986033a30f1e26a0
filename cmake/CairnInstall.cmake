# What `cmake --install` gives: headers, libcairn, the CMake package, cairn.pc,
# the tool with its man page, the licence.
include(CMakePackageConfigHelpers)

install(TARGETS cairn EXPORT cairnTargets)
if(TARGET room_comm_mpi)
  install(DIRECTORY include/cairn TYPE INCLUDE)
else()
  install(DIRECTORY include/cairn TYPE INCLUDE PATTERN comm_mpi.h EXCLUDE)
endif()

# The exported target needs nothing found first, so it is the whole config file.
set(cairn_package ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
install(EXPORT cairnTargets NAMESPACE cairn:: FILE cairnConfig.cmake
  DESTINATION ${cairn_package})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/cairnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairnConfigVersion.cmake
  DESTINATION ${cairn_package})

# cairn.pc finds the prefix from its own place: `--install --prefix` moves both.
file(RELATIVE_PATH CAIRN_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/cairn.pc.in ${CMAKE_CURRENT_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairn.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE TYPE DOC)
if(TARGET cairn_tool)
  install(TARGETS cairn_tool)
  install(FILES tools/cairn/cairn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(TARGET cairn_bench)
  install(TARGETS cairn_bench)
endif()

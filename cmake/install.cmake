# Program, libraries, header, pkg-config and CMake packages, man pages, completion, texts.
include(CMakePackageConfigHelpers)

if(TARGET lscm)
  install(TARGETS lscm)
  install(FILES ${LSCM_MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${LSCM_COMPLETION}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
install(TARGETS lscm_shared EXPORT lscm)
install(TARGETS lscm_static)
if(TARGET lscm_cuda)
  install(TARGETS lscm_cuda LIBRARY NAMELINK_SKIP)
endif()
install(FILES include/lscm.h TYPE INCLUDE)

set(LSCM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lscm)
install(EXPORT lscm NAMESPACE lscm:: FILE lscmTargets.cmake DESTINATION ${LSCM_CMAKE_DIR})
configure_package_config_file(cmake/lscmConfig.cmake.in lscmConfig.cmake
                              INSTALL_DESTINATION ${LSCM_CMAKE_DIR})
write_basic_package_version_file(lscmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lscmConfig.cmake ${PROJECT_BINARY_DIR}/lscmConfigVersion.cmake
        DESTINATION ${LSCM_CMAKE_DIR})

# The .pc file finds its own prefix (pcfiledir), so it stays right under any --prefix. What the static
# library needs is listed as flags, not as Requires.private: that would pull in what the dependencies
# need to be static themselves, such as a Fortran compiler.
file(RELATIVE_PATH LSCM_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" LSCM_PC_PREFIX "${LSCM_PC_PREFIX}")
set(LSCM_PC_MPI)
if(LSCM_MPI_FOUND)
  set(LSCM_PC_MPI ${MPI_C_LIBRARIES})
endif()
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dl)
string(JOIN " " LSCM_PC_LIBS ${LSCM_LIBS_LDFLAGS} ${LSCM_HDF5_LIBRARY} ${LSCM_PC_MPI} ${OpenMP_C_FLAGS}
       ${CMAKE_THREAD_LIBS_INIT} ${dl} -lm)
configure_file(cmake/lscm.pc.in lscm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lscm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB LSCM_DOCS CONFIGURE_DEPENDS docs/*.md README.md CHANGELOG.md LICENSE)
install(FILES ${LSCM_DOCS} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The Python package: lscm._core, which sees include/lscm.h alone and carries the library in itself, in
# one binary for Python 3.11 and all later ones (abi3). It lies in the build folder beside links to the
# files of python/lscm, so that PYTHONPATH=build/python will do. pyproject.toml makes wheels of it.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

file(GLOB LSCM_PYTHON_SOURCES CONFIGURE_DEPENDS python/src/*.c)
Python_add_library(lscm_python MODULE ${LSCM_PYTHON_SOURCES})
target_link_libraries(lscm_python PRIVATE lscm_flags lscm_static)
target_link_options(lscm_python PRIVATE -Wl,--exclude-libs,ALL) # other modules may have other lscm
set(package ${PROJECT_BINARY_DIR}/python/lscm)
set_target_properties(lscm_python PROPERTIES OUTPUT_NAME _core PREFIX "" SUFFIX .abi3.so
                      LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${package}
                      BUILD_RPATH "$ORIGIN/../.." # the plug-in for CUDA devices is there, ..
                      INSTALL_RPATH "$ORIGIN") # .. or beside it

file(GLOB files CONFIGURE_DEPENDS python/lscm/*.py python/lscm/*.pyi python/lscm/py.typed)
file(MAKE_DIRECTORY ${package})
foreach(file ${files})
  cmake_path(GET file FILENAME name)
  file(CREATE_LINK ${file} ${package}/${name} SYMBOLIC)
endforeach()

install(TARGETS lscm_python LIBRARY DESTINATION lscm COMPONENT python EXCLUDE_FROM_ALL)
if(TARGET lscm_cuda)
  install(TARGETS lscm_cuda LIBRARY DESTINATION lscm NAMELINK_SKIP COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(DEFINED SKBUILD_SCRIPTS_DIR) # a wheel has the program, too
  install(TARGETS lscm RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python EXCLUDE_FROM_ALL)
endif()

# The plug-in for CUDA devices, liblscm_cuda.so.0.2: src/cuda, and the few files of the library that it
# needs for itself. liblscm loads it when a CUDA device is asked for (src/backend/loaded.c), so one
# library serves machines with and without. AUTO builds it where nvcc and what it needs are.
set(LSCM_CUDA_FOUND FALSE)
if(LSCM_CUDA STREQUAL "AUTO" AND NOT LSCM_SANITIZE)
  find_program(LSCM_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin DOC "nvcc of CUDA")
  if(LSCM_NVCC)
    set(ENV{CUDACXX} ${LSCM_NVCC})
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      find_package(CUDAToolkit 12 QUIET)
      set(LSCM_CUDA_FOUND ${CUDAToolkit_FOUND})
    endif()
  endif()
elseif(LSCM_CUDA AND NOT LSCM_CUDA STREQUAL "AUTO")
  find_package(CUDAToolkit 12 REQUIRED)
  set(LSCM_CUDA_FOUND TRUE)
endif()
if(LSCM_CUDA_FOUND AND NOT TARGET CUDA::cusolver)
  message(STATUS "CUDA devices: cuSOLVER was not found")
  set(LSCM_CUDA_FOUND FALSE)
endif()
set(LSCM_CUDA_BUILT ${LSCM_CUDA_FOUND} CACHE INTERNAL "The plug-in for CUDA devices is built")
if(NOT LSCM_CUDA_FOUND)
  message(STATUS "CUDA devices: without the plug-in (LSCM_CUDA=${LSCM_CUDA}; docs/gpu.md)")
  return()
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90) # and for what comes after: PTX of 90
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

file(GLOB LSCM_CUDA_SOURCES CONFIGURE_DEPENDS src/cuda/*.cu)
add_library(lscm_cuda SHARED ${LSCM_CUDA_SOURCES} src/base/status.c src/net/vision/picture_encoder.c
            src/net/vision/pixel_decoder.c)
target_include_directories(lscm_cuda PRIVATE include src)
target_compile_definitions(lscm_cuda PRIVATE _POSIX_C_SOURCE=200809L)
target_compile_options(lscm_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-fvisibility=hidden>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${LSCM_WERROR}>>:-Werror=all-warnings>)
target_link_libraries(lscm_cuda PRIVATE CUDA::cudart_static CUDA::cublasLt CUDA::cusolver)
# One symbol is seen. Threads and handlers of CUDA outlive the last device, so the plug-in stays.
target_link_options(lscm_cuda PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/cuda/plugin.map
                    -Wl,-z,nodelete -Wl,--no-undefined)
set_target_properties(lscm_cuda PROPERTIES SOVERSION ${LSCM_SOVERSION} VERSION ${PROJECT_VERSION}
                      BUILD_RPATH ${CUDAToolkit_LIBRARY_DIR} INSTALL_RPATH ${CUDAToolkit_LIBRARY_DIR}
                      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/plugin.map)
message(STATUS "CUDA devices: the plug-in is built with CUDA ${CUDAToolkit_VERSION}")

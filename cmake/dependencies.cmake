# Everything lscm needs, with a way out for each in docs/install.md. Random123 is headers only:
# -DLSCM_RANDOM123_INCLUDE=DIR names the folder that holds Random123/philox.h.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)

pkg_check_modules(LSCM_LIBS REQUIRED IMPORTED_TARGET openblas lapacke netcdf libzip libpng libjpeg zlib jansson)
if(LSCM_PROGRAM)
  pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
  pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols)
endif()

# The HDF5 that netCDF stands on, to keep it from printing.
find_library(LSCM_HDF5_LIBRARY NAMES hdf5_serial hdf5 DOC "HDF5, as netCDF uses it")
find_path(LSCM_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial DOC "Folder that holds hdf5.h")
if(NOT (LSCM_HDF5_LIBRARY AND LSCM_HDF5_INCLUDE))
  message(FATAL_ERROR "HDF5 was not found, though netCDF needs it. Install libhdf5-dev, or say "
                      "-DLSCM_HDF5_LIBRARY=FILE -DLSCM_HDF5_INCLUDE=FOLDER")
endif()

find_path(LSCM_RANDOM123_INCLUDE Random123/philox.h DOC "Folder that holds Random123/philox.h")
if(NOT LSCM_RANDOM123_INCLUDE)
  message(FATAL_ERROR "Random123/philox.h was not found. Install librandom123-dev, or download "
                      "Random123 and say -DLSCM_RANDOM123_INCLUDE=FOLDER/include")
endif()

add_library(lscm_dependencies INTERFACE)
target_include_directories(lscm_dependencies SYSTEM INTERFACE ${LSCM_RANDOM123_INCLUDE}
                           ${LSCM_HDF5_INCLUDE})
target_link_libraries(lscm_dependencies INTERFACE PkgConfig::LSCM_LIBS ${LSCM_HDF5_LIBRARY}
                      OpenMP::OpenMP_C Threads::Threads m)

# Several processes: comm.c on MPI, or comm_alone.c. MPI libraries keep memory to the end, which
# sanitizers take for leaks.
set(LSCM_MPI_FOUND FALSE)
if(LSCM_MPI STREQUAL "AUTO" AND NOT LSCM_SANITIZE)
  find_package(MPI QUIET COMPONENTS C)
  set(LSCM_MPI_FOUND ${MPI_C_FOUND})
elseif(LSCM_MPI AND NOT LSCM_MPI STREQUAL "AUTO")
  find_package(MPI REQUIRED COMPONENTS C)
  set(LSCM_MPI_FOUND TRUE)
endif()
set(LSCM_COMM_OTHER comm.c)
if(LSCM_MPI_FOUND)
  set(LSCM_COMM_OTHER comm_alone.c)
  target_link_libraries(lscm_dependencies INTERFACE MPI::MPI_C)
  message(STATUS "Several processes: MPI ${MPI_C_VERSION}, ${MPI_C_LIBRARIES}")
else()
  message(STATUS "Several processes: without MPI")
endif()

# Everything lscm needs, with a way out for each in docs/install.md. Random123 is headers only:
# -DLSCM_RANDOM123_INCLUDE=DIR names the folder that holds Random123/philox.h.
find_package(PkgConfig)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)

# need(FOUND WHAT DEBIAN CONDA): what is missing is said in one sentence, all of it at once
set(missing)
set(debian)
set(conda)
macro(need found what debian_package conda_package)
  if(NOT ${found})
    list(APPEND missing ${what})
    list(APPEND debian ${debian_package})
    list(APPEND conda ${conda_package}) # none for Random123
  endif()
endmacro()

need(PKG_CONFIG_FOUND pkg-config pkgconf pkg-config)
set(libraries openblas lapacke netcdf libzip libpng libjpeg zlib jansson)
set(debian_packages libopenblas-dev liblapacke-dev libnetcdf-dev libzip-dev libpng-dev
    libjpeg-dev zlib1g-dev libjansson-dev)
set(conda_packages openblas liblapacke libnetcdf libzip libpng libjpeg-turbo zlib jansson)
set(modules ${libraries})
if(LSCM_PROGRAM)
  list(APPEND modules smartcols)
  list(APPEND debian_packages libsmartcols-dev)
  list(APPEND conda_packages util-linux)
endif()
foreach(module debian_package conda_package IN ZIP_LISTS modules debian_packages conda_packages)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(LSCM_MODULE_${module} QUIET ${module})
  endif()
  need(LSCM_MODULE_${module}_FOUND ${module} ${debian_package} ${conda_package})
endforeach()

# The HDF5 that netCDF stands on, to keep it from printing.
find_library(LSCM_HDF5_LIBRARY NAMES hdf5_serial hdf5 DOC "HDF5, as netCDF uses it")
find_path(LSCM_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial DOC "Folder that holds hdf5.h")
need(LSCM_HDF5_LIBRARY "HDF5 (-DLSCM_HDF5_LIBRARY=FILE)" libhdf5-dev hdf5)
need(LSCM_HDF5_INCLUDE "hdf5.h (-DLSCM_HDF5_INCLUDE=FOLDER)" libhdf5-dev hdf5)
find_path(LSCM_RANDOM123_INCLUDE Random123/philox.h DOC "Folder that holds Random123/philox.h")
need(LSCM_RANDOM123_INCLUDE "Random123/philox.h (-DLSCM_RANDOM123_INCLUDE=FOLDER)" librandom123-dev "")

if(missing)
  foreach(list debian conda)
    list(REMOVE_DUPLICATES ${list})
    list(JOIN ${list} " " ${list})
  endforeach()
  list(JOIN missing ", " missing)
  if(conda)
    string(PREPEND conda " or ")
    string(APPEND conda " (conda-forge)")
  endif()
  message(FATAL_ERROR "lscm needs what was not found here, ${missing}: install ${debian} (Debian, Ubuntu)${conda}; "
                      "docs/install.md has more.")
endif()

# A wheel carries what it needs: of LAPACKE only what is called, where it can be had, and nothing of a
# second LAPACK beside the one in OpenBLAS.
if(DEFINED SKBUILD)
  find_library(LSCM_LAPACKE_ARCHIVE NAMES liblapacke.a DOC "LAPACKE, for the inside of a wheel")
endif()
if(LSCM_LAPACKE_ARCHIVE)
  list(REMOVE_ITEM libraries lapacke)
endif()
pkg_check_modules(LSCM_LIBS REQUIRED IMPORTED_TARGET ${libraries})
if(LSCM_PROGRAM)
  pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
  pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols)
endif()

add_library(lscm_dependencies INTERFACE)
target_include_directories(lscm_dependencies SYSTEM INTERFACE ${LSCM_RANDOM123_INCLUDE}
                           ${LSCM_HDF5_INCLUDE})
target_link_libraries(lscm_dependencies INTERFACE ${LSCM_LAPACKE_ARCHIVE} PkgConfig::LSCM_LIBS ${LSCM_HDF5_LIBRARY}
                      OpenMP::OpenMP_C Threads::Threads ${CMAKE_DL_LIBS} m)

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

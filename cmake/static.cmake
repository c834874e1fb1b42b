# liblscm.a offers what liblscm.so offers and nothing more: all objects are linked into one and their
# hidden symbols made local, so that short internal names ("fail", "view") cannot meet a user's own.
set(merged ${PROJECT_BINARY_DIR}/lscm_merged.o)
set(public ${PROJECT_BINARY_DIR}/lscm_public.o)
add_custom_command(
  OUTPUT ${public}
  COMMAND ${CMAKE_LINKER} -r -o ${merged} $<TARGET_OBJECTS:lscm_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${merged} ${public}
  BYPRODUCTS ${merged}
  DEPENDS lscm_objects $<TARGET_OBJECTS:lscm_objects>
  COMMENT "Making internal symbols local"
  COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${public} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

add_library(lscm_static STATIC ${public})
target_include_directories(lscm_static INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(lscm_static PRIVATE lscm_dependencies)
set_target_properties(lscm_static PROPERTIES OUTPUT_NAME lscm LINKER_LANGUAGE C)

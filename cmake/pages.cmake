# Man pages and the completion are written by the program itself, from the tables that also parse its
# options: one page per row of COMMANDS in cli/main.c, and one for the whole.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cli/main.c)
file(STRINGS cli/main.c rows REGEX "^    {\"[a-z]+\", \"")
string(REGEX MATCHALL "{\"[a-z]+\"" commands "${rows}")
string(REGEX REPLACE "[{\"]" "" commands "${commands}")

set(LSCM_MAN_PAGES)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man ${PROJECT_BINARY_DIR}/completions)
foreach(command "" ${commands})
  string(REGEX REPLACE "-$" "" page "lscm-${command}")
  set(page ${PROJECT_BINARY_DIR}/man/${page}.1)
  add_custom_command(OUTPUT ${page} COMMAND lscm help --man ${command} > ${page}
                     COMMENT "Writing ${page}")
  list(APPEND LSCM_MAN_PAGES ${page})
endforeach()
set(LSCM_COMPLETION ${PROJECT_BINARY_DIR}/completions/lscm)
add_custom_command(OUTPUT ${LSCM_COMPLETION} COMMAND lscm help --completion > ${LSCM_COMPLETION}
                   COMMENT "Writing ${LSCM_COMPLETION}")
add_custom_target(pages ALL DEPENDS ${LSCM_MAN_PAGES} ${LSCM_COMPLETION})

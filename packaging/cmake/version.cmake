# STEPSCOPE_VERSION: of the tag v1.2.3 on this commit, or 1.2.3+dev after it; without a tag, the project's version + dev. It does not
# contain the commit, because every program would then be linked again after each commit.
set(STEPSCOPE_VERSION "${PROJECT_VERSION}+dev")
find_program(STEPSCOPE_GIT git)
if(STEPSCOPE_GIT)
  execute_process(COMMAND "${STEPSCOPE_GIT}" -C "${CMAKE_SOURCE_DIR}" describe --tags --long --match "v[0-9]*"
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(described MATCHES "^v(.+)-([0-9]+)-g[0-9a-f]+$")
    set(STEPSCOPE_VERSION "${CMAKE_MATCH_1}")
    if(CMAKE_MATCH_2 GREATER 0)
      string(APPEND STEPSCOPE_VERSION "+dev")
    endif()
  endif()
endif()

# Common settings of all targets: language, warnings, sanitizers, ccache, and registries generated from folders.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(STEPSCOPE_CCACHE ccache)
if(STEPSCOPE_CCACHE)
  # Caching precompiled headers needs the sloppiness settings; clones and presets with the same options share the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=pch_defines,time_macros"
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" "CCACHE_NOHASHDIR=true" "${STEPSCOPE_CCACHE}")
endif()

option(STEPSCOPE_TOGETHER "Compile many files as one: a full build is much faster, a rebuild after a change slower" OFF)
if(STEPSCOPE_TOGETHER)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
set(STEPSCOPE_GROUPS "${CMAKE_CURRENT_LIST_DIR}/source_groups.py")
set(STEPSCOPE_STD_HEADERS "${CMAKE_CURRENT_LIST_DIR}/std_headers.h")

add_library(stepscope_warnings INTERFACE)
target_compile_options(stepscope_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)

if(STEPSCOPE_SANITIZE)
  add_compile_options("-fsanitize=${STEPSCOPE_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${STEPSCOPE_SANITIZE}")
  # Sanitized programs are many and large; GNU's linker takes minutes for all of them.
  find_program(STEPSCOPE_LLD ld.lld)
  if(STEPSCOPE_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# stepscope_together(variable OUT name [HEADER header] [IN_SEVERAL] FILES file…): with STEPSCOPE_TOGETHER, generates files that each
# include many of FILES, and sets the variable to them and the files compiled separately; otherwise sets it to FILES.
# IN_SEVERAL: other targets of the folder may compile these files separately.
function(stepscope_together variable)
  cmake_parse_arguments(arg "IN_SEVERAL" "OUT;HEADER" "FILES" ${ARGN})
  set(alone "")
  set(others "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    get_source_file_property(options "${file}" COMPILE_OPTIONS)
    get_source_file_property(definitions "${file}" COMPILE_DEFINITIONS)
    string(FIND "${file}" "${CMAKE_BINARY_DIR}/" generated)
    if(file MATCHES "\\.cpp$" AND NOT generated EQUAL 0 AND NOT options AND NOT definitions)
      list(APPEND alone "${file}")
    else()
      list(APPEND others "${file}")
    endif()
  endforeach()
  list(LENGTH alone count)
  if(NOT STEPSCOPE_TOGETHER OR count LESS 2)
    set(${variable} ${arg_FILES} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${Python3_EXECUTABLE}" "${STEPSCOPE_GROUPS}" "${CMAKE_SOURCE_DIR},${CMAKE_BINARY_DIR}"
                  "${CMAKE_CURRENT_BINARY_DIR}/together/${arg_OUT}" "${arg_HEADER}" ${alone}
                  OUTPUT_VARIABLE together OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(written ${together})
  list(FILTER written INCLUDE REGEX "^${CMAKE_CURRENT_BINARY_DIR}/together/")
  if(NOT written)
    set(${variable} ${arg_FILES} PARENT_SCOPE)
    return()
  endif()
  list(REMOVE_ITEM together ${written})
  list(REMOVE_ITEM alone ${together})
  if(arg_IN_SEVERAL)
    set(together "")
  else()
    set_source_files_properties(${together} PROPERTIES HEADER_FILE_ONLY ON)
  endif()
  set(${variable} ${alone} ${others} ${together} ${written} PARENT_SCOPE)
endfunction()

option(STEPSCOPE_SHARED "Link the project's own libraries dynamically: the programs of the tests are built sooner and take less disk" OFF)

# A library of the project, with its warnings and the root as include path. HEADERS: headers to precompile for all of its files.
# Only third-party headers: the compiler cache may return a precompiled header of another clone, in which the project's headers have
# other timestamps, so #pragma once no longer recognizes them.
# APART: never group its files, because small programs link individual objects of it.
function(stepscope_library name)
  cmake_parse_arguments(arg "APART" "HEADERS" "" ${ARGN})
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(NOT arg_APART)
    stepscope_together(sources OUT ${name} FILES ${sources})
  endif()
  if(STEPSCOPE_SHARED)
    add_library(${name} SHARED ${sources})
    # Objects that are compiled in the same way as those of a static library come from the compiler cache.
    set_target_properties(${name} PROPERTIES DEFINE_SYMBOL "")
  else()
    add_library(${name} STATIC ${sources})
  endif()
  if(arg_HEADERS)
    target_precompile_headers(${name} PRIVATE "${arg_HEADERS}")
  endif()
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE stepscope_warnings)
endfunction()

function(stepscope_executable name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE stepscope_warnings)
endfunction()

# stepscope_manual_page(target SUMMARY COMPONENT component): the page of a program, from its --help.
function(stepscope_manual_page target summary component)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT Python3_EXECUTABLE OR STEPSCOPE_SANITIZE)
    return()
  endif()
  set(page "${CMAKE_BINARY_DIR}/manual/${target}.1")
  add_custom_command(OUTPUT "${page}" DEPENDS ${target} "${CMAKE_SOURCE_DIR}/packaging/manual_page"
                     COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/packaging/manual_page" "$<TARGET_FILE:${target}>" "${summary}"
                             "${page}")
  add_custom_target(${target}_page ALL DEPENDS "${page}")
  install(FILES "${page}" DESTINATION share/man/man1 COMPONENT ${component})
endfunction()

# stepscope_registry(target DIR folder NAMESPACE ns TYPE type HEADER header [BY_FOLDER] [PRECOMPILED])
# Every <folder>/<stem>.cpp (BY_FOLDER: <folder>/<stem>/<stem>.cpp) must define `type ns::<stem>()`: adding the file registers
# it. A generated header with the declarations is force-included into each of these files, so that a wrong return type fails to
# compile and a missing function fails to link with its name. Generates `std::vector<profiler::Registered<type>>
# ns::all()`, declared in "<target>_<folder's name>_registry.h". PRECOMPILED: the files use the target's precompiled header.
function(stepscope_registry target)
  cmake_parse_arguments(arg "BY_FOLDER;PRECOMPILED" "DIR;NAMESPACE;TYPE;HEADER" "" ${ARGN})
  set(root "${CMAKE_CURRENT_SOURCE_DIR}/${arg_DIR}")
  if(arg_BY_FOLDER)
    file(GLOB entries CONFIGURE_DEPENDS "${root}/*/*.cpp")
    set(files "")
    foreach(file IN LISTS entries)
      cmake_path(GET file STEM stem)
      cmake_path(GET file PARENT_PATH parent)
      cmake_path(GET parent FILENAME folder)
      if(stem STREQUAL folder)
        list(APPEND files "${file}")
      endif()
    endforeach()
  else()
    file(GLOB files CONFIGURE_DEPENDS "${root}/*.cpp")
  endif()
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    if(NOT stem MATCHES "^[a-z][a-z0-9_]*$")
      message(FATAL_ERROR "${file}: '${stem}' is not a valid function name; use lower-case letters, digits and underscores")
    endif()
    string(APPEND declarations "${arg_TYPE} ${stem}();\n")
    string(APPEND entries "        {\"${stem}\", ${stem}()},\n")
  endforeach()
  cmake_path(GET root FILENAME name)
  set(header "${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}_registry.h")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}_registry.cpp")
  file(CONFIGURE OUTPUT "${header}" CONTENT "#pragma once
#include \"${arg_HEADER}\"
#include \"profiler/model/registered.h\"
#include <vector>
namespace ${arg_NAMESPACE} {
${declarations}std::vector<profiler::Registered<${arg_TYPE}>> all();
}
")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${header}\"
namespace ${arg_NAMESPACE} {
std::vector<profiler::Registered<${arg_TYPE}>> all()
{
    return {
${entries}    };
}
}
")
  set(includes "-include;${header}")
  if(arg_PRECOMPILED)
    # A precompiled header is used only if it is the first include, and CMake would put it last.
    set(precompiled "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx")
    set(includes "-include;${precompiled};${includes}")
    set_source_files_properties(${files} PROPERTIES SKIP_PRECOMPILE_HEADERS ON OBJECT_DEPENDS "${precompiled}.gch")
  endif()
  stepscope_together(sources OUT ${target}_${name} HEADER "${header}" FILES ${files})
  foreach(file IN LISTS files)
    get_source_file_property(included "${file}" HEADER_FILE_ONLY)
    if(NOT included)
      set_property(SOURCE "${file}" APPEND PROPERTY COMPILE_OPTIONS "${includes}")
    endif()
  endforeach()
  target_sources(${target} PRIVATE ${sources} "${source}")
  target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()

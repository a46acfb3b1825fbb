# The Debian packages stepscope (app, terminal program and recording) and stepscope-trainer, made by packaging/deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stepscope)
set(CPACK_PACKAGE_VERSION "${STEPSCOPE_VERSION}")
set(CPACK_PACKAGE_VENDOR Stepscope)
set(CPACK_PACKAGE_CONTACT "Stepscope maintainers <maintainers@stepscope.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL stepscope trainer)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The library for PyTorch's operators and the trainer use the LibTorch of pip's packages, which no Debian package has.
set(torch_root "${STEPSCOPE_TORCH_ROOT}")
if(NOT torch_root)
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/packaging/libtorch" --print OUTPUT_VARIABLE torch_root OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
endif()
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${torch_root}/torch/lib" "${torch_root}/nvidia/cu13/lib")
set(CPACK_DEBIAN_STEPSCOPE_PACKAGE_NAME stepscope)
set(CPACK_DEBIAN_STEPSCOPE_DESCRIPTION "profiler for PyTorch training
Records training programs, shows on a timeline where the time of a step
goes, proposes changes, and measures whether they pay.")
set(CPACK_DEBIAN_STEPSCOPE_PACKAGE_RECOMMENDS "qt6-wayland, python3")
set(CPACK_DEBIAN_STEPSCOPE_PACKAGE_SUGGESTS "stepscope-trainer, git")
set(CPACK_DEBIAN_STEPSCOPE_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/../debian/prerm")
set(CPACK_DEBIAN_STEPSCOPE_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_TRAINER_PACKAGE_NAME stepscope-trainer)
set(CPACK_DEBIAN_TRAINER_DESCRIPTION "trainer of Stepscope
Trains ready-made models on LibTorch, for trying changes without a program
of one's own. /usr/lib/stepscope/libtorch downloads LibTorch for a user.")
set(CPACK_DEBIAN_TRAINER_PACKAGE_RECOMMENDS "stepscope, python3-venv")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_SOURCE_DIR}/packaging/cmake/debian_files.cmake")
set(CPACK_STEPSCOPE_SOURCE "${CMAKE_SOURCE_DIR}")
include(CPack)

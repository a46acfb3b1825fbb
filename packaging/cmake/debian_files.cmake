# Run by cpack on the staged files: what Debian expects in a package, and the trainer without paths of this machine.
set(stage "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
set(packaging "${CPACK_STEPSCOPE_SOURCE}/packaging")

set(trainer "${stage}/trainer/usr")
if(EXISTS "${trainer}/bin/stepscope-train")
  file(RENAME "${trainer}/bin/stepscope-train" "${trainer}/lib/stepscope/stepscope-train")
  file(RPATH_REMOVE FILE "${trainer}/lib/stepscope/stepscope-train")
  file(RPATH_REMOVE FILE "${trainer}/lib/stepscope/libstepscope_cuda.so")
  # file(INSTALL) would add cpack's DESTDIR once more.
  file(COPY "${packaging}/debian/stepscope-train" DESTINATION "${trainer}/bin" USE_SOURCE_PERMISSIONS)
  file(COPY "${packaging}/libtorch" "${packaging}/libtorch.txt" DESTINATION "${trainer}/lib/stepscope" USE_SOURCE_PERMISSIONS)
endif()

# Where Debian's zsh looks for the functions of packages.
if(EXISTS "${stage}/stepscope/usr/share/zsh/site-functions")
  file(RENAME "${stage}/stepscope/usr/share/zsh/site-functions" "${stage}/stepscope/usr/share/zsh/vendor-completions")
endif()

foreach(component stepscope trainer)
  set(root "${stage}/${component}/usr")
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  execute_process(COMMAND "${packaging}/notices" --debian "${root}/share/doc/${package}" --version "${CPACK_PACKAGE_VERSION}"
                          --package "${package}" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB pages "${root}/share/man/man1/*.1")
  if(pages)
    execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

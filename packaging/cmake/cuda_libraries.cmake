# Imported targets from the wheels (or from the user's own LibTorch and CUDA): cuda::cupti, cuda::nvtx, and torch::cpu if the
# trainer is built. find_package(Torch) is not used because it requires nvcc and enables the CUDA language.
include_guard(GLOBAL)

if(NOT STEPSCOPE_TORCH_ROOT)
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/packaging/libtorch" --print RESULT_VARIABLE failed
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND found)
    set(STEPSCOPE_TORCH_ROOT "${found}")
  endif()
endif()
set(how "Run packaging/libtorch, or use another LibTorch with -DSTEPSCOPE_TORCH_ROOT=DIR (a folder that contains torch/, or an \
unpacked LibTorch) and its CUDA 13 toolkit with -DSTEPSCOPE_CUDA_ROOT=DIR, or build without the trainer: -DSTEPSCOPE_TRAINER=OFF.")

set(roots "${STEPSCOPE_CUDA_ROOT}" "${STEPSCOPE_TORCH_ROOT}/nvidia/cu13")
# A build folder configured with another LibTorch searches again, because its pinned versions and headers differ.
if(NOT "${STEPSCOPE_ROOTS_SEARCHED}" STREQUAL "${roots}")
  unset(STEPSCOPE_CUPTI_INCLUDE CACHE)
  unset(STEPSCOPE_CUPTI_LIBRARY CACHE)
  unset(STEPSCOPE_NVTX_INCLUDE CACHE)
  set(STEPSCOPE_ROOTS_SEARCHED "${roots}" CACHE INTERNAL "")
endif()
find_path(STEPSCOPE_CUPTI_INCLUDE cupti.h HINTS ${roots} PATH_SUFFIXES include extras/CUPTI/include NO_DEFAULT_PATH)
find_library(STEPSCOPE_CUPTI_LIBRARY NAMES libcupti.so.13 cupti HINTS ${roots} PATH_SUFFIXES lib lib64 extras/CUPTI/lib64
             NO_DEFAULT_PATH)
find_path(STEPSCOPE_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
if(STEPSCOPE_CUPTI_INCLUDE AND STEPSCOPE_CUPTI_LIBRARY AND STEPSCOPE_NVTX_INCLUDE)
  add_library(cuda::cupti SHARED IMPORTED GLOBAL)
  set_target_properties(cuda::cupti PROPERTIES IMPORTED_LOCATION "${STEPSCOPE_CUPTI_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${STEPSCOPE_CUPTI_INCLUDE};${STEPSCOPE_NVTX_INCLUDE}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${STEPSCOPE_CUPTI_INCLUDE};${STEPSCOPE_NVTX_INCLUDE}")
  add_library(cuda::nvtx INTERFACE IMPORTED GLOBAL)
  set_target_properties(cuda::nvtx PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${STEPSCOPE_NVTX_INCLUDE}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${STEPSCOPE_NVTX_INCLUDE}" INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
elseif(STEPSCOPE_TRAINER)
  message(FATAL_ERROR "No CUPTI and NVTX of CUDA 13 under '${STEPSCOPE_CUDA_ROOT}' or '${STEPSCOPE_TORCH_ROOT}/nvidia/cu13'. ${how}")
endif()

if(STEPSCOPE_TRAINER)
  find_path(torch_dir lib/libtorch_cpu.so HINTS "${STEPSCOPE_TORCH_ROOT}/torch" "${STEPSCOPE_TORCH_ROOT}" NO_DEFAULT_PATH NO_CACHE)
  if(NOT torch_dir)
    message(FATAL_ERROR "No LibTorch in '${STEPSCOPE_TORCH_ROOT}'. ${how}")
  endif()
  set(version_header "${torch_dir}/include/torch/headeronly/version.h")
  set(version "")
  if(EXISTS "${version_header}")
    file(STRINGS "${version_header}" version REGEX "^ +\"[0-9.]+\"$")
    string(REGEX REPLACE "[ \"]" "" version "${version}")
  elseif(EXISTS "${torch_dir}/build-version") # of one that is older than the header
    file(STRINGS "${torch_dir}/build-version" version LIMIT_COUNT 1)
  endif()
  if(NOT EXISTS "${version_header}" OR version VERSION_LESS 2.11)
    if(NOT version)
      set(version "of an unknown version, without '${version_header}'")
    endif()
    message(FATAL_ERROR "The LibTorch in '${torch_dir}' is ${version}. Stepscope needs 2.11, with its headers. ${how}")
  endif()
  set(STEPSCOPE_TORCH_VERSION "${version}" CACHE INTERNAL "The version of the LibTorch that is built against")
  add_library(torch::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(torch::c10 PROPERTIES IMPORTED_LOCATION "${torch_dir}/lib/libc10.so")
  add_library(torch::cpu SHARED IMPORTED GLOBAL)
  set_target_properties(torch::cpu PROPERTIES IMPORTED_LOCATION "${torch_dir}/lib/libtorch_cpu.so"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${torch_dir}/include;${torch_dir}/include/torch/csrc/api/include"
    INTERFACE_INCLUDE_DIRECTORIES "${torch_dir}/include;${torch_dir}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_NCCL"
    INTERFACE_LINK_LIBRARIES torch::c10)
  # LibTorch's CUDA libraries, for plug-ins that are loaded on machines with a GPU.
  find_path(cudart_include cuda_runtime_api.h HINTS ${roots} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
  find_path(nccl_include nccl.h HINTS "${STEPSCOPE_TORCH_ROOT}/nvidia/nccl" ${roots} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
  find_library(cudart_library NAMES libcudart.so.13 cudart HINTS ${roots} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH NO_CACHE)
  add_library(torch::cuda INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch::cuda SYSTEM INTERFACE "${cudart_include}" "${nccl_include}")
  target_link_libraries(torch::cuda INTERFACE torch::cpu "-Wl,--no-as-needed" "${torch_dir}/lib/libtorch_cuda.so"
                        "${torch_dir}/lib/libc10_cuda.so" "${cudart_library}" "-Wl,--as-needed")
endif()

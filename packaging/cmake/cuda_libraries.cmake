# Imported targets from the wheels (or a LibTorch of the user's own): cuda::cupti, cuda::nvtx, and torch::cpu where the trainer
# is built. find_package(Torch) is not used: it wants nvcc and switches the CUDA language on.

if(NOT STEPSCOPE_TORCH_ROOT)
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/packaging/libtorch" --print RESULT_VARIABLE failed
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND found)
    set(STEPSCOPE_TORCH_ROOT "${found}" CACHE PATH "" FORCE)
  endif()
endif()

set(cuda_root "${STEPSCOPE_TORCH_ROOT}/nvidia/cu13")
if(EXISTS "${cuda_root}/include/cupti.h")
  if(NOT TARGET cuda::cupti)
    add_library(cuda::cupti SHARED IMPORTED GLOBAL)
    set_target_properties(cuda::cupti PROPERTIES IMPORTED_LOCATION "${cuda_root}/lib/libcupti.so.13"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${cuda_root}/include" INTERFACE_INCLUDE_DIRECTORIES "${cuda_root}/include")
    add_library(cuda::nvtx INTERFACE IMPORTED GLOBAL)
    set_target_properties(cuda::nvtx PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${cuda_root}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${cuda_root}/include" INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
  endif()
elseif(STEPSCOPE_TRAINER)
  message(FATAL_ERROR "No LibTorch with CUDA's headers at '${STEPSCOPE_TORCH_ROOT}'. Run packaging/libtorch, or set "
                      "STEPSCOPE_TORCH_ROOT to a folder that holds torch/ and nvidia/cu13/, or build with -DSTEPSCOPE_TRAINER=OFF.")
endif()

if(STEPSCOPE_TRAINER AND NOT TARGET torch::cpu)
  set(torch_dir "${STEPSCOPE_TORCH_ROOT}/torch")
  add_library(torch::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(torch::c10 PROPERTIES IMPORTED_LOCATION "${torch_dir}/lib/libc10.so")
  add_library(torch::cpu SHARED IMPORTED GLOBAL)
  set_target_properties(torch::cpu PROPERTIES IMPORTED_LOCATION "${torch_dir}/lib/libtorch_cpu.so"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${torch_dir}/include;${torch_dir}/include/torch/csrc/api/include"
    INTERFACE_INCLUDE_DIRECTORIES "${torch_dir}/include;${torch_dir}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_NCCL"
    INTERFACE_LINK_LIBRARIES torch::c10)
endif()

#include "trainer/loop/failure.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>

using namespace trainer;

namespace {

// What LibTorch 2.x throws where CUDA, cuBLAS and cuDNN have no memory for themselves.
TEST(Failure, WantOfMemoryHasManyWords)
{
    for (const char* text :
         {"CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call",
          "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
          "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
          "DefaultCPUAllocator: can't allocate memory: you tried to allocate"}) {
        EXPECT_EQ(explain(std::runtime_error(text), 3).what, "Out of memory at step 3") << text;
        EXPECT_EQ(explain(c10::Error({__func__, __FILE__, __LINE__}, text), 3).what, "Out of memory at step 3") << text;
    }
    EXPECT_EQ(explain(std::bad_alloc(), 3).what, "Out of memory at step 3");
    EXPECT_EQ(explain(std::runtime_error("CUDA error: an illegal memory access was encountered"), 3).what,
              "The training failed at step 3: CUDA error: an illegal memory access was encountered");
}

} // namespace

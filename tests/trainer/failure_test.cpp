#include "trainer/loop/failure.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
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
        EXPECT_EQ(explain(std::runtime_error(text), 3).id, "training.out_of_memory") << text;
        EXPECT_EQ(explain(c10::Error({__func__, __FILE__, __LINE__}, text), 3).id, "training.out_of_memory") << text;
    }
    EXPECT_EQ(explain(std::bad_alloc(), 3).what, "Out of memory at step 3");
    EXPECT_EQ(explain(std::bad_alloc()).what, "Out of memory");
    const auto other = explain(std::runtime_error("CUDA error: an illegal memory access was encountered"), 3);
    EXPECT_EQ(other.id, "training.failed");
    EXPECT_THAT(other.parameters, testing::Contains(config::protocol::NoticeValue{
                                      "why", "CUDA error: an illegal memory access was encountered",
                                      "CUDA error: an illegal memory access was encountered"}));
    EXPECT_THAT(other.parameters, testing::Contains(config::protocol::NoticeValue{"step", std::int64_t{3}, "3"}));
}

// A search for the largest batch goes by these ids.
TEST(Failure, AStepThatDoesNotFitAsAGraphIsAWarningOfWantOfMemory)
{
    const auto full = explainUncompiled(std::runtime_error("CUDA error: out of memory\nand more"));
    EXPECT_EQ(full.severity, config::protocol::Notice::Severity::Warning);
    EXPECT_EQ(full.id, "compile.out_of_memory");
    EXPECT_EQ(full.where, "CUDA error: out of memory");
    const auto other = explainUncompiled(std::runtime_error("operation not permitted when stream is capturing"));
    EXPECT_EQ(other.severity, config::protocol::Notice::Severity::Warning);
    EXPECT_EQ(other.id, "compile.failed");
}

} // namespace

#include "trainer/session/failure.h"

#include "profiler/model/result.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>

using namespace trainer;

namespace {

// What LibTorch 2.x throws where CUDA, cuBLAS and cuDNN have no memory for themselves.
TEST(Failure, OutOfMemoryHasManyMessages)
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

TEST(Failure, AnErrorIsReportedWithItsOwnIdFileHintAndTheStep)
{
    const profiler::Failure thrown(profiler::makeError<"test.failure", "The model returns {count} numbers">(
        profiler::Error::Code::Invalid, "/a/net.pt", "choose another", {{"count", 3}}));
    const auto first = explain(thrown);
    EXPECT_EQ(first.severity, config::protocol::Notice::Severity::Error);
    EXPECT_EQ(first.id, "test.failure");
    EXPECT_EQ(first.what, "The model returns 3 numbers");
    EXPECT_EQ(first.where, "/a/net.pt");
    EXPECT_EQ(first.hint, "choose another");
    EXPECT_THAT(first.parameters, testing::Contains(config::protocol::NoticeValue{"step", std::int64_t{-1}, "-1"}));
    const auto later = explain(thrown, 7);
    EXPECT_EQ(later.where, "/a/net.pt, step 7");
    EXPECT_THAT(later.parameters, testing::ElementsAre(config::protocol::NoticeValue{"count", std::int64_t{3}, "3"},
                                                       config::protocol::NoticeValue{"step", std::int64_t{7}, "7"}));
}

TEST(Failure, AnErrorThatNamesAStepKeepsIt)
{
    const profiler::Failure thrown(
        profiler::makeError<"test.lost", "Lost at step {step}">(profiler::Error::Code::Invalid, {}, {}, {{"step", 4}}));
    const auto told = explain(thrown, 7);
    EXPECT_THAT(told.parameters, testing::ElementsAre(config::protocol::NoticeValue{"step", std::int64_t{4}, "4"}));
    EXPECT_EQ(told.where, "");
}

// A model's failure is wrapped in an error of ours; what LibTorch said in it decides first.
TEST(Failure, OutOfMemoryInsideAnErrorIsOutOfMemory)
{
    const profiler::Failure thrown(profiler::makeError<"test.forward", "The model failed: {why}">(
        profiler::Error::Code::Invalid, {}, {}, {{"why", "DefaultCPUAllocator: can't allocate memory"}}));
    EXPECT_EQ(explain(thrown, 0).id, "training.out_of_memory");
}

// A search for the largest batch goes by these ids.
TEST(Failure, AStepThatDoesNotFitAsAGraphIsAnOutOfMemoryWarning)
{
    const auto full = explainUncompiled(std::runtime_error("CUDA error: out of memory\nand more"));
    EXPECT_EQ(full.severity, config::protocol::Notice::Severity::Warning);
    EXPECT_EQ(full.id, "compile.out_of_memory");
    EXPECT_EQ(full.where, "CUDA error: out of memory");
    const auto other = explainUncompiled(std::runtime_error("operation not permitted when stream is capturing"));
    EXPECT_EQ(other.severity, config::protocol::Notice::Severity::Warning);
    EXPECT_EQ(other.id, "compile.failed");
    const auto own = explainUncompiled(profiler::Failure(profiler::makeError<"test.library", "The library is missing">(
        profiler::Error::Code::Unavailable, {}, "install it")));
    EXPECT_EQ(own.id, "compile.failed");
    EXPECT_EQ(own.where, "The library is missing");
    EXPECT_EQ(own.hint, "install it");
    EXPECT_THAT(own.parameters,
                testing::ElementsAre(config::protocol::NoticeValue{"error", "test.library", "test.library"}));
}

} // namespace

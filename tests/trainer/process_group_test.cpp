#include "trainer/parallel/process_group.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

// Without shutdown(), NCCL's threads keep the process alive; without abort(), they wait for ranks that have died. These
// tests add a backend that counts both calls.
namespace trainer {
namespace {

struct Calls {
    int shutdowns = 0, aborts = 0;
};

class CountingBackend final : public c10d::Backend {
public:
    explicit CountingBackend(Calls& calls) : Backend(0, 1), m_calls(calls) {}
    const std::string getBackendName() const override { return "counting"; }
    void shutdown() override { ++m_calls.shutdowns; }
    void abort() override { ++m_calls.aborts; }

private:
    Calls& m_calls;
};

class ProcessGroupTest : public testing::Test {
protected:
    /// A group of one rank, whose backend for GPUs counts.
    std::unique_ptr<ProcessGroup> group()
    {
        Ranks alone;
        alone.port = 0; // any free one
        auto made = std::make_unique<ProcessGroup>(alone, c10::Device(c10::kCPU));
        made->native().setBackend(c10::kCUDA, c10d::ProcessGroup::BackendType::CUSTOM,
                                  c10::make_intrusive<CountingBackend>(calls));
        return made;
    }

    Calls calls;
};

TEST_F(ProcessGroupTest, IsShutDownWhenATrainingEnds)
{
    group().reset();
    EXPECT_EQ(calls.shutdowns, 1);
    EXPECT_EQ(calls.aborts, 0);
}

TEST_F(ProcessGroupTest, IsAbortedWhereAnExceptionEndsTheTraining)
{
    try {
        const auto inUse = group();
        throw std::runtime_error("the model does not fit");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(calls.shutdowns, 0) << "the other ranks may not answer";
    EXPECT_EQ(calls.aborts, 1);
}

TEST_F(ProcessGroupTest, IsNotShutDownAfterAnAbort)
{
    auto inUse = group();
    inUse->abort();
    inUse.reset();
    EXPECT_EQ(calls.aborts, 1);
    EXPECT_EQ(calls.shutdowns, 0) << "it would wait for the rank that is gone";
}

TEST_F(ProcessGroupTest, OutlivesAnExceptionThatWasHandledWhileItWasInUse)
{
    auto inUse = group();
    try {
        throw std::runtime_error("handled");
    } catch (const std::runtime_error&) {
    }
    EXPECT_FALSE(inUse->anyOf(false));
    inUse.reset();
    EXPECT_EQ(calls.shutdowns, 1);
}

} // namespace
} // namespace trainer

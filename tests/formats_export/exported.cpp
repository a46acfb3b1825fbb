#include "tests/formats_export/exported.h"

#include "profiler/formats/format.h"
#include "tests/support/trace_text.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <zlib.h>

namespace formats_export_test {

const std::string_view kTraining = R"(
    device 0 "NVIDIA H100" GPU-1
    meta versions.torch 2.11.0
    meta versions.cuda_runtime 13.0
    meta rank 1
    meta world_size 2
    main pid=100 tid=100
      repeat 4 every 100
        step 0 0 100
        phase "data wait" 0 20
        op aten::linear 20 10 seq=5 shapes="[[2, 3], []]" types="[float, Scalar]" ext=9
        op aten::addmm 21 8 seq=5
        call cudaLaunchKernel 22 2 corr=5
        call cudaMemcpyAsync 50 5 corr=6
        call cudaStreamSynchronize 60 10
      end
    thread "pt_autograd_0" pid=100 tid=101
      repeat 4 every 100
        op "autograd::engine::evaluate_function: AddmmBackward0" 70 5 seq=5 backward
        nvtx "a \"quoted\" name" 71 1
      end
    worker 0 pid=100 tid=102
      stage decode 0 350
    stream 0 7
      repeat 4 every 100
        copy HtoD 20.5 9 bytes=20000 src=pageable dst=device corr=6
        kernel gemm 30.001 40.123 corr=5
        memset Memset 75 1 bytes=64
      end
    stream 0 9
      kernel long 35 100
      kernel over 130 100
    counter loss unit=nats
      sample 10 2.5
      sample 110 1.25
    counter memory unit=bytes
      sample 10 1000
)";

Folder::Folder()
{
    std::string folder = (std::filesystem::temp_directory_path() / "stepscope-export-XXXXXX").string();
    if (!::mkdtemp(folder.data()))
        std::abort();
    m_path = folder;
}

Folder::~Folder()
{
    std::error_code none;
    std::filesystem::remove_all(m_path, none);
}

std::size_t Folder::files() const
{
    const std::filesystem::directory_iterator folder(m_path);
    return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

std::string bytesOf(const std::filesystem::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::string exported(std::string_view text, std::string_view name)
{
    const Folder folder;
    const auto saved = profiler::formats::saveTrace(*test_support::traceFromText(text), folder / name);
    EXPECT_TRUE(saved) << saved.error().message();
    return bytesOf(folder / name);
}

std::string inflated(const std::string& bytes)
{
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    std::string out(1 << 22, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<unsigned>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<unsigned>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(out.size() - stream.avail_out);
    inflateEnd(&stream);
    return out;
}

} // namespace formats_export_test

#include "profiler/formats/nsys/export_rows.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

// The profiler may repeat a message thousands of times; each message is reported once.
constexpr std::size_t kMostNotes = 20;

/// "13000" as "13.0".
std::string cudaVersion(std::string_view number)
{
    int value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value >= 1000 ? fmt::format("{}.{}", value / 1000, value % 1000 / 10) : std::string(number);
}

/// A version from an environment variable of a container image: "NV_CUDNN_VERSION=9.1.0.70-1;…".
std::string environmentVersion(std::string_view environment, std::string_view variable)
{
    const std::string key = std::string(variable) + "=";
    std::size_t at = environment.find(key);
    while (at != environment.npos && at != 0 && environment[at - 1] != ';')
        at = environment.find(key, at + 1);
    if (at == environment.npos)
        return {};
    const std::string_view value = environment.substr(at + key.size());
    return std::string(value.substr(0, value.find(';')));
}

void readEnvironment(Import& import, std::string_view name, std::string_view value)
{
    if (name == "CudaDriverVersion")
        import.builder.setMetadata("versions.cuda_driver", cudaVersion(value));
    else if (name == "NvDriverVersion")
        import.builder.setMetadata("versions.nvidia_driver", std::string(value));
    else if (name == "CpuCores")
        import.builder.setMetadata("host.cores", std::string(value));
    else if (name == "Hostname")
        import.builder.setMetadata("host.name", std::string(value));
    else if (name == "DeviceEnvironment") {
        struct Variable {
            std::string_view name, key;
        };
        for (const Variable& variable :
             {Variable{"CUDA_VERSION", "versions.cuda_runtime"}, Variable{"NV_CUDNN_VERSION", "versions.cudnn"},
              Variable{"NV_LIBNCCL_PACKAGE_VERSION", "versions.nccl"}, Variable{"PYTORCH_VERSION", "versions.torch"}})
            if (std::string version = environmentVersion(value, variable.name); !version.empty())
                import.builder.setMetadata(std::string(variable.key), std::move(version));
    }
}

std::string lower(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

/// The number of events that the profiler reports as dropped or lost: "Number of dropped events: 12".
std::uint64_t lostIn(std::string_view message)
{
    const std::string text = lower(message);
    if (text.find("dropped") == text.npos && text.find("lost") == text.npos)
        return 0;
    const auto digit = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    std::uint64_t number = 0;
    std::from_chars(std::to_address(digit), text.data() + text.size(), number);
    return number;
}

Result<void> readDiagnostics(Import& import)
{
    std::vector<Message> said;
    return forEachRow(import, "DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const Rows& row) {
        const auto severity = import.enums.severities.find(row.integer(1).value_or(-1));
        const std::string name = severity == import.enums.severities.end() ? std::string() : lower(severity->second);
        if (name != "warning" && name != "error")
            return;
        const Message note = message<"nsys.diagnostic", "Nsight Systems, {severity}: {said}">(
            {{"severity", name}, {"said", row.text(2)}});
        import.losses.lost += lostIn(row.text(2));
        if (said.size() < kMostNotes && std::find(said.begin(), said.end(), note) == said.end()) {
            said.push_back(note);
            import.builder.captureStats().notes.push_back(note);
        }
    });
}

} // namespace

Result<void> readDescription(Import& import)
{
    auto done = forEachRow(import, "TARGET_INFO_SYSTEM_ENV", {"name", "value"},
                           [&](const Rows& row) { readEnvironment(import, row.text(1), row.text(2)); });
    if (!done)
        return done;
    done = forEachRow(import, "META_DATA_EXPORT", {"name", "value"}, [&](const Rows& row) {
        if (row.text(1) == "EXPORT_PRODUCT_VERSION")
            import.builder.setMetadata("versions.nsys", std::string(row.text(2)));
        else if (row.text(1) == "EXPORT_SCHEMA_VERSION")
            import.builder.setMetadata("nsys.schema", std::string(row.text(2)));
    });
    if (!done)
        return done;
    done = forEachRow(import, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const Rows& row) {
        if (const auto utc = row.integer(1))
            import.builder.setMetadata("start.utc_ns", std::to_string(*utc));
    });
    return done ? readDiagnostics(import) : done;
}

} // namespace profiler::formats::nsys

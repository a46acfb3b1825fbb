#include "tests/runner/recorded_program.h"

#include "tests/support/trace_text.h"

#include <array>
#include <cstdio>
#include <string>

namespace runner_test {

using Json = nlohmann::json;

namespace {

std::string sha256(const std::filesystem::path& path)
{
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(("sha256sum '" + path.string() + "'").c_str(), "r"),
                                                     ::pclose);
    std::array<char, 65> text{};
    return pipe && std::fgets(text.data(), text.size(), pipe.get()) ? text.data() : "";
}

} // namespace

RecordedProgram::RecordedProgram()
    : m_facts({{"schema", 1},
               {"argv", {PYTHON, "train.py"}},
               {"cwd", m_folder.path().string()},
               {"script", m_script.string()},
               {"module", nullptr},
               {"files", {{{"path", m_script.string()}, {"sha256", sha256(m_script)}, {"lines", 2}}}},
               {"objects",
                {{{"id", "loader:0"},
                  {"kind", "loader"},
                  {"class", "torch.utils.data.DataLoader"},
                  {"framework", nullptr},
                  {"site",
                   {{"file", m_script.string()},
                    {"line", 2},
                    {"column", 9},
                    {"end_line", 2},
                    {"end_column", 40},
                    {"function", "<module>"}}},
                  {"chain", Json::array()},
                  {"settings", {{"num_workers", {{"value", 0}, {"given", false}, {"argument", nullptr}}}}},
                  {"role", "training"},
                  {"count", 1}}}},
               {"arguments", Json::array()}})
{
}

std::shared_ptr<const profiler::Trace> RecordedProgram::trace(std::string_view steps) const
{
    return test_support::traceFromText("meta program " + m_facts.dump() + "\n" + std::string(steps));
}

void RecordedProgram::passWorkersAsOption()
{
    m_facts["objects"][0]["settings"]["num_workers"]["argument"] = "workers";
    m_facts["arguments"] = {{{"dest", "workers"},
                             {"options", {"--workers"}},
                             {"value", 0},
                             {"default", 0},
                             {"given", false},
                             {"type", "int"}}};
}

void RecordedProgram::recordBatchSize()
{
    m_facts["objects"][0]["settings"]["batch_size"] = {{"value", 32}, {"given", true}, {"argument", nullptr}};
}

void RecordedProgram::trainWithRate()
{
    recordBatchSize();
    m_folder.write("train.py", kScript + std::string("optimizer = torch.optim.SGD(net, lr=0.1)\n"));
    m_facts["files"][0]["sha256"] = sha256(m_script);
    m_facts["files"][0]["lines"] = 3;
    m_facts["objects"].push_back({{"id", "optimizer:0"},
                                  {"kind", "optimizer"},
                                  {"class", "torch.optim.SGD"},
                                  {"framework", nullptr},
                                  {"site",
                                   {{"file", m_script.string()},
                                    {"line", 3},
                                    {"column", 12},
                                    {"end_line", 3},
                                    {"end_column", 40},
                                    {"function", "<module>"}}},
                                  {"chain", Json::array()},
                                  {"settings", {{"lr", {{"value", 0.1}, {"given", true}, {"argument", nullptr}}}}},
                                  {"count", 20}});
}

void RecordedProgram::validateWithGradients()
{
    m_folder.write("train.py", "import torch\nloader = torch.utils.data.DataLoader(data, batch_size=32)\n"
                               "for inputs in loader:\n    model(inputs)\n");
    m_facts["files"][0]["sha256"] = sha256(m_script);
    m_facts["files"][0]["lines"] = 4;
    Json& objects = m_facts["objects"];
    objects[0]["site"]["end_column"] = 57;
    objects.push_back({{"id", "validation:0"},
                       {"kind", "validation"},
                       {"class", "torch.nn.Linear"},
                       {"framework", nullptr},
                       {"site",
                        {{"file", m_script.string()},
                         {"line", 4},
                         {"column", 4},
                         {"end_line", 4},
                         {"end_column", 17},
                         {"function", "<module>"}}},
                       {"chain", Json::array()},
                       {"settings", Json::object()},
                       {"grad", true},
                       {"role", "validation"},
                       {"count", 2}});
}

advisor::change::PatcherOptions RecordedProgram::patcher()
{
    return {.python = PYTHON, .patcher = PATCHER, .command = {}};
}

} // namespace runner_test

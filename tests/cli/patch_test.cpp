#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

/// Changes of a recorded Python program: printed, applied, reverted, committed, and shown with a finding.
namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kScript = "from torch.utils.data import DataLoader\r\n"
                                     "# \xc3\xa9\r\n"
                                     "loader = DataLoader(data, batch_size=32)\r\n";
constexpr std::string_view kPatched = "from torch.utils.data import DataLoader\r\n"
                                      "# \xc3\xa9\r\n"
                                      "loader = DataLoader(data, batch_size=32, num_workers=4)\r\n";

std::string textOf(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The output of a shell command line.
std::string shell(const std::string& line)
{
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
    std::string text;
    std::array<char, 512> buffer;
    while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()))
        text += buffer.data();
    return text;
}

/// A recorded program of one file whose loader is in line 3. The originals of applied patches are in its folder.
class PatchCommand : public testing::Test {
protected:
    PatchCommand()
    {
        m_script = m_folder.write("train.py", kScript);
        ::setenv("XDG_STATE_HOME", (m_folder / "state").c_str(), 1);
        m_facts = {{"schema", 1},
                   {"interpreter", (m_folder / "python").string()},
                   {"argv", {"python", "train.py"}},
                   {"cwd", m_script.parent_path().string()},
                   {"script", m_script.string()},
                   {"files", {{{"path", m_script.string()}, {"sha256", hashOf(m_script)}, {"lines", 3}}}},
                   {"objects",
                    {{{"id", "loader:0"},
                      {"kind", "loader"},
                      {"class", "torch.utils.data.DataLoader"},
                      {"framework", nullptr},
                      {"site",
                       {{"file", m_script.string()},
                        {"line", 3},
                        {"column", 9},
                        {"end_line", 3},
                        {"end_column", 40},
                        {"function", "<module>"}}},
                      {"chain", Json::array()},
                      {"settings", {{"num_workers", {{"value", 0}, {"given", false}, {"argument", nullptr}}}}},
                      {"role", "training"},
                      {"count", 1}}}},
                   {"arguments", Json::array()}};
    }
    ~PatchCommand() override { ::unsetenv("XDG_STATE_HOME"); }

    static std::string hashOf(const std::filesystem::path& path)
    {
        return shell("sha256sum '" + path.string() + "'").substr(0, 64);
    }

    /// A recording whose steps wait for data.
    [[nodiscard]] std::string trace() const
    {
        return m_folder
            .trace("run.sstrace", "meta host.cores 8\nmeta loader.workers 0\nmeta program " + m_facts.dump() + R"(
                main
                  repeat 20 every 1000
                    step 0 0 1000
                    phase "data wait" 0 600
                    phase forward 600 200
                    op aten::conv2d 600 150
                  end)")
            .string();
    }

    [[nodiscard]] Ended patch(std::vector<std::string> options) const
    {
        options.insert(options.begin(), {"patch", trace()});
        return run(options);
    }

    Folder m_folder;
    std::filesystem::path m_script;
    Json m_facts;
};

TEST_F(PatchCommand, PrintsADiffThatGitApplies)
{
    const Ended ended = patch({"--set", "loader.workers=4"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("+loader = DataLoader(data, batch_size=32, num_workers=4)"));
    EXPECT_EQ(textOf(m_script), kScript);
    const auto diff = m_folder.write("a.diff", ended.out);
    EXPECT_EQ(shell("cd / && git apply '" + diff.string() + "' 2>&1"), "");
    EXPECT_EQ(textOf(m_script), kPatched);
}

TEST_F(PatchCommand, JsonSaysHowEachChangeIsMade)
{
    const Json json = Json::parse(patch({"--set", "loader.workers=4", "--set", "sync.every_n_steps=10", "--json"}).out,
                                  nullptr, false);
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["changes"][0]["how"], "source");
    EXPECT_EQ(json["changes"][0]["from"], "0");
    EXPECT_EQ(json["changes"][0]["measurable"], true);
    EXPECT_EQ(json["changes"][1]["how"], "to read");
    EXPECT_EQ(json["changes"][1]["why_not_id"], "change.by_hand");
    EXPECT_EQ(json["source"][0]["line"], 3);
    EXPECT_EQ(json["files"][0], m_script.string());
}

TEST_F(PatchCommand, TheCommandLineIsTheChangeWhereAnOptionReachesTheSetting)
{
    m_facts["objects"][0]["settings"]["num_workers"]["argument"] = "workers";
    m_facts["arguments"] = {{{"dest", "workers"},
                             {"options", {"--workers"}},
                             {"value", 0},
                             {"default", 0},
                             {"given", false},
                             {"type", "int"}}};
    const Json json = Json::parse(patch({"--set", "loader.workers=4", "--json"}).out, nullptr, false);
    EXPECT_EQ(json["changes"][0]["how"], "argument");
    EXPECT_EQ(json["command"], "python train.py --workers 4");
    const Ended applied = patch({"--set", "loader.workers=4", "--apply"});
    EXPECT_EQ(applied.status, 1);
    EXPECT_THAT(applied.err, HasSubstr("No file changes"));
}

TEST_F(PatchCommand, AppliesAndReverts)
{
    std::filesystem::permissions(m_script, std::filesystem::perms::owner_all);
    const Ended applied = patch({"--set", "loader.workers=4", "--apply"});
    ASSERT_EQ(applied.status, 0) << applied.err;
    EXPECT_EQ(textOf(m_script), kPatched);
    EXPECT_EQ(std::filesystem::status(m_script).permissions(), std::filesystem::perms::owner_all);
    const Ended reverted = patch({"--revert", "--json"});
    ASSERT_EQ(reverted.status, 0) << reverted.err;
    EXPECT_EQ(Json::parse(reverted.out, nullptr, false)["reverted"][0], m_script.string());
    EXPECT_EQ(textOf(m_script), kScript);
    EXPECT_EQ(patch({"--revert"}).status, 1);
}

TEST_F(PatchCommand, ASecondChangeOfTheSameRecordingComesOnTop)
{
    const std::string recorded = trace();
    const auto set = [&](const char* change, const char* how) {
        return run({"patch", recorded, "--set", change, how});
    };
    ASSERT_EQ(set("loader.workers=4", "--apply").status, 0);
    const Ended shown = set("loader.pin_memory=true", "--json");
    ASSERT_EQ(shown.status, 0) << shown.err;
    EXPECT_THAT(Json::parse(shown.out, nullptr, false)["diff"].get<std::string>(),
                HasSubstr("-loader = DataLoader(data, batch_size=32, num_workers=4)"));
    const Ended second = set("loader.pin_memory=true", "--apply");
    ASSERT_EQ(second.status, 0) << second.err;
    EXPECT_THAT(textOf(m_script), HasSubstr("DataLoader(data, batch_size=32, num_workers=4, pin_memory=True)"));
    ASSERT_EQ(run({"patch", recorded, "--revert"}).status, 0);
    EXPECT_EQ(textOf(m_script), kScript);
}

TEST_F(PatchCommand, AProgramThatWasRecordedWithItsPatchGetsAnother)
{
    ASSERT_EQ(patch({"--set", "loader.workers=4", "--apply"}).status, 0);
    m_facts["files"][0]["sha256"] = hashOf(m_script); // recorded again
    m_facts["objects"][0]["site"]["end_column"] = 55;
    const Ended second = patch({"--set", "loader.pin_memory=true", "--apply"});
    ASSERT_EQ(second.status, 0) << second.err;
    EXPECT_THAT(textOf(m_script), HasSubstr("num_workers=4, pin_memory=True)"));
    ASSERT_EQ(patch({"--revert"}).status, 0);
    EXPECT_EQ(textOf(m_script), kScript);
}

TEST_F(PatchCommand, ALinkStaysALink)
{
    const auto link = m_script.parent_path() / "link.py";
    std::filesystem::create_symlink(m_script, link);
    m_facts["files"][0]["path"] = m_facts["objects"][0]["site"]["file"] = link.string();
    ASSERT_EQ(patch({"--set", "loader.workers=4", "--apply"}).status, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(textOf(m_script), kPatched);
}

TEST_F(PatchCommand, AFileThatHasChangedIsNotPatched)
{
    const std::string recorded = trace();
    m_folder.write("train.py", std::string(kScript) + "x = 1\r\n");
    const Ended ended = run({"patch", recorded, "--set", "loader.workers=4", "--apply"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("has changed since it was recorded"));
    EXPECT_EQ(textOf(m_script), std::string(kScript) + "x = 1\r\n");
}

TEST_F(PatchCommand, AChangeThatActsOutsideOfStepsIsMeasurable)
{
    m_facts["objects"][0]["settings"]["num_workers"] = {{"value", 2}, {"given", true}, {"argument", nullptr}};
    m_script = m_folder.write("train.py", "loader = DataLoader(data, num_workers=2)\n");
    m_facts["files"][0]["sha256"] = hashOf(m_script);
    m_facts["objects"][0]["site"]["line"] = m_facts["objects"][0]["site"]["end_line"] = 1;
    const Json json = Json::parse(patch({"--set", "loader.persistent_workers=true", "--json"}).out, nullptr, false);
    ASSERT_TRUE(json.is_object());
    EXPECT_THAT(json["diff"].get<std::string>(), HasSubstr("persistent_workers=True"));
    EXPECT_EQ(json["changes"][0]["measurable"], true);
}

TEST_F(PatchCommand, AFileThatChangedAfterThePatchIsNotReverted)
{
    ASSERT_EQ(patch({"--set", "loader.workers=4", "--apply"}).status, 0);
    m_folder.write("train.py", std::string(kPatched) + "x = 1\r\n");
    const Ended ended = patch({"--revert"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("has changed since the patch was applied"));
    EXPECT_EQ(textOf(m_script), std::string(kPatched) + "x = 1\r\n");
}

class PatchBranch : public PatchCommand {
protected:
    PatchBranch()
    {
        git("init -q -b main . && git config user.name A && git config user.email a@b.c && git config core.autocrlf "
            "false");
        git("add train.py && git commit -q -m first");
    }
    std::string git(const std::string& words) const
    {
        return shell("cd '" + m_script.parent_path().string() + "' && git " + words + " 2>&1");
    }
};

TEST_F(PatchBranch, CommitsWithoutTouchingTheWorkTree)
{
    const std::string head = git("rev-parse HEAD"), status = git("status --porcelain train.py");
    const auto measured = m_folder.write("m.json", R"({"verdict": "pays", "step_us": {"a": 2000, "b": 1000, "ratio": 2,
                                                       "ci95": [1.9, 2.1]}})");
    const Ended ended = patch({"--set", "loader.workers=4", "--branch", "faster", "--measured", measured.string()});
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(git("rev-parse HEAD"), head);
    EXPECT_EQ(git("rev-parse faster^"), head);
    EXPECT_EQ(git("status --porcelain train.py"), status);
    EXPECT_EQ(textOf(m_script), kScript);
    EXPECT_EQ(git("show faster:train.py"), kPatched);
    EXPECT_EQ(git("diff --name-only main faster"), "train.py\n");
    const std::string message = git("log -1 --format=%B faster");
    EXPECT_THAT(message, HasSubstr("loader.workers = 4"));
    EXPECT_THAT(message, HasSubstr("pays; a step took 2 ms before and 1 ms after, ratio 2.000"));
    EXPECT_THAT(patch({"--set", "loader.workers=4", "--branch", "faster"}).err, HasSubstr("The branch already exists"));
    EXPECT_THAT(patch({"--set", "loader.workers=4", "--branch", "a..b"}).err, HasSubstr("not a valid branch name"));
}

TEST_F(PatchBranch, OtherUncommittedChangesAreNotCommitted)
{
    m_folder.write("train.py", "# new\r\n" + std::string(kScript));
    m_facts["files"][0]["sha256"] = hashOf(m_script);
    m_facts["objects"][0]["site"]["line"] = m_facts["objects"][0]["site"]["end_line"] = 4;
    const Ended ended = patch({"--set", "loader.workers=4", "--branch", "faster"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("uncommitted changes"));
    EXPECT_THAT(git("rev-parse --verify faster"), HasSubstr("fatal"));
}

TEST_F(PatchBranch, ACommitNeedsANameAndAnAddress)
{
    git("config --unset user.name && git config --unset user.email && git config user.useConfigOnly true");
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    const Ended ended = patch({"--set", "loader.workers=4", "--branch", "faster"});
    ::unsetenv("GIT_CONFIG_GLOBAL");
    ::unsetenv("GIT_CONFIG_NOSYSTEM");
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("user.email"));
    EXPECT_THAT(git("rev-parse --verify faster"), HasSubstr("fatal"));
}

TEST_F(PatchCommand, NothingThatATraceNamesIsStarted)
{
    const auto python = m_folder.write("python", "#!/bin/sh\ntouch '" + (m_folder / "started").string() + "'\n");
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    EXPECT_EQ(patch({"--set", "loader.workers=4"}).status, 0);
    EXPECT_EQ(run({"advise", trace()}).status, 0);
    EXPECT_FALSE(std::filesystem::exists(m_folder / "started"));
    // Only the user may name an interpreter; this one returns no answer.
    EXPECT_EQ(patch({"--set", "loader.workers=4", "--python", python.string()}).status, 1);
    EXPECT_TRUE(std::filesystem::exists(m_folder / "started"));
}

TEST_F(PatchCommand, WrongUsageIsReported)
{
    EXPECT_EQ(patch({}).status, 2);
    EXPECT_EQ(patch({"--set", "loader.workers"}).status, 2);
    EXPECT_EQ(patch({"--set", "loader.workers=1", "--set", "loader.workers=2"}).status, 2);
    EXPECT_EQ(patch({"--set", "loader.workers=1", "--apply", "--revert"}).status, 2);
    EXPECT_THAT(patch({"--set", "loader.workers=4", "--python", "/nowhere/python3"}).err,
                HasSubstr("/nowhere/python3"));
    const Ended value = patch({"--set", "loader.workers=many"});
    EXPECT_EQ(value.status, 2);
    EXPECT_THAT(value.err, HasSubstr("loader.workers=many"));
    const Ended unknown = patch({"--set", "loader.wrkers=4"});
    EXPECT_EQ(unknown.status, 1);
    EXPECT_THAT(unknown.err, HasSubstr("loader.workers")) << "the nearest setting";
    m_facts = "nothing";
    EXPECT_THAT(patch({"--set", "loader.workers=4"}).err, HasSubstr("does not describe a Python program"));
    m_facts = {{"objects", 5}, {"files", "x"}};
    EXPECT_EQ(patch({"--set", "loader.workers=4"}).status, 1);
}

TEST_F(PatchCommand, AFindingHasItsDiffAndCanBeMeasured)
{
    const Json json = Json::parse(run({"advise", trace(), "--json"}).out, nullptr, false);
    ASSERT_TRUE(json.is_object());
    bool seen = false;
    for (const Json& row : json["advice"]) {
        if (row["state"] != "fires") {
            EXPECT_TRUE(row["patch"].is_null());
        }
        if (row["id"] != "loader.workers")
            continue;
        seen = true;
        EXPECT_EQ(row["state"], "fires");
        EXPECT_EQ(row["patch"]["how"], "source");
        EXPECT_EQ(row["patch"]["measurable"], true);
        EXPECT_THAT(row["patch"]["diff"].get<std::string>(), HasSubstr("num_workers="));
        EXPECT_EQ(row["source"][0]["file"], m_script.string());
        EXPECT_EQ(row["source"][0]["line"], 3);
        EXPECT_EQ(row["toggle"]["key"], "loader.workers");
        EXPECT_EQ(row["toggle"]["from"], "0");
    }
    EXPECT_TRUE(seen);
    EXPECT_THAT(run({"advise", trace()}).out, HasSubstr("num_workers="));
}

} // namespace
} // namespace cli_test

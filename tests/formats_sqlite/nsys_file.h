#pragma once

#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;

namespace formats_sqlite_test {

/// A temporary file for one test; deleted afterwards, together with files that SQLite created next to it.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view name = "export.sqlite");
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::string bytes() const;
    void write(std::string_view bytes) const;

private:
    std::filesystem::path m_folder, m_path;
};

/// A SQLite file as written by nsys export, filled by SQL. Aborts with SQLite's message if a statement fails.
class NsysFile {
public:
    explicit NsysFile(const std::filesystem::path& path);
    ~NsysFile();
    NsysFile(const NsysFile&) = delete;
    NsysFile& operator=(const NsysFile&) = delete;

    void run(const std::string& sql);
    /// The tables of a current export (schema 3.25) with enumerations and META_DATA_EXPORT, but without events.
    void makeTables();
    /// The id of this text in StringIds.
    int string(const std::string& text);

private:
    sqlite3* m_database = nullptr;
    int m_strings = 0;
};

/// globalTid of a thread as serialized by nsys; with thread 0: globalPid.
long long globalId(int process, int thread = 0);

/// Two processes with one device each, under the same CUDA number and with equal correlation ids; ranges, calls, a
/// wait.
void writeTwoProcesses(const std::filesystem::path& path);

} // namespace formats_sqlite_test

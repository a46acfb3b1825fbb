#pragma once

#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;

namespace formats_sqlite_test {

/// A file of its own for a test; deleted afterwards, with what SQLite put beside it.
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

/// A SQLite file as nsys export writes it, filled by SQL. Aborts, with SQLite's words, when a statement fails.
class NsysFile {
public:
    explicit NsysFile(const std::filesystem::path& path);
    ~NsysFile();
    NsysFile(const NsysFile&) = delete;
    NsysFile& operator=(const NsysFile&) = delete;

    void run(const std::string& sql);
    /// The tables of a current export (schema 3.25) with its enumerations, META_DATA_EXPORT and no events.
    void makeTables();
    /// An id of StringIds for this text.
    int string(const std::string& text);

private:
    sqlite3* m_database = nullptr;
    int m_strings = 0;
};

/// globalTid of a thread, as nsys serializes it; thread 0: globalPid.
long long globalId(int process, int thread = 0);

/// Two processes with a device each, by one CUDA number and with equal correlation ids; ranges, calls, a wait.
void writeTwoProcesses(const std::filesystem::path& path);

} // namespace formats_sqlite_test

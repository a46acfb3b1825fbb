#include "tests/formats_sqlite/nsys_file.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sqlite3.h>
#include <sstream>

namespace formats_sqlite_test {

namespace {

constexpr const char* kTables = R"(
    CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
    CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
    CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, uuid TEXT);
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT);
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
    CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER, source INTEGER, severity INTEGER,
                                   text TEXT, globalPid INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
        globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
        gridX INTEGER, gridY INTEGER, gridZ INTEGER, registersPerThread INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        value INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
        globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
        deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
        syncType INTEGER NOT NULL, eventId INTEGER);
    CREATE TABLE PROFILER_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER,
        overheadType INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
        globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, jsonText TEXT);
    CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (34, 'NvtxMark', 'NvtxMark'), (59, 'NvtxPushPopRange', 'NvtxPushPopRange'),
        (60, 'NvtxStartEndRange', 'NvtxStartEndRange'), (75, 'NvtxDomainCreate', 'NvtxDomainCreate');
    CREATE TABLE ENUM_NSYS_EVENT_CLASS (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),
        (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver');
    CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),
        (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'), (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),
        (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'), (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'),
        (11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device');
    CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
        (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'), (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
        (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'), (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
        (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'), (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');
    CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (1, '', 'Event sync'), (2, '', 'Stream wait sync'), (3, '', 'Stream sync');
    CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES (7, '', 'Lazy function loading (CUDA)');
    CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES (1, 'Info', 'Info'), (2, 'Warning', 'Warning');
)";

std::string quotedText(const std::string& text)
{
    std::string result = "'";
    for (const char c : text)
        result.append(c == '\'' ? 2 : 1, c);
    return result + "'";
}

} // namespace

TemporaryFile::TemporaryFile(std::string_view name)
{
    std::string folder = (std::filesystem::temp_directory_path() / "stepscope-sqlite-XXXXXX").string();
    if (!::mkdtemp(folder.data()))
        std::abort();
    m_folder = folder;
    m_path = m_folder / name;
}

TemporaryFile::~TemporaryFile()
{
    std::error_code none;
    std::filesystem::remove_all(m_folder, none);
}

std::string TemporaryFile::bytes() const
{
    std::ostringstream text;
    text << std::ifstream(m_path, std::ios::binary).rdbuf();
    return text.str();
}

void TemporaryFile::write(std::string_view bytes) const
{
    std::ofstream(m_path, std::ios::binary) << bytes;
}

NsysFile::NsysFile(const std::filesystem::path& path)
{
    if (sqlite3_open(path.c_str(), &m_database) != SQLITE_OK)
        std::abort();
    run("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
}

NsysFile::~NsysFile()
{
    sqlite3_close(m_database);
}

void NsysFile::run(const std::string& sql)
{
    char* message = nullptr;
    if (sqlite3_exec(m_database, sql.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
        std::fprintf(stderr, "%s\n  in: %s\n", message, sql.c_str());
        std::abort();
    }
}

void NsysFile::makeTables()
{
    run(kTables);
}

int NsysFile::string(const std::string& text)
{
    run("INSERT INTO StringIds VALUES (" + std::to_string(++m_strings) + ", " + quotedText(text) + ")");
    return m_strings;
}

long long globalId(int process, int thread)
{
    return 1LL << 48 | static_cast<long long>(process) << 24 | thread;
}

void writeTwoProcesses(const std::filesystem::path& path)
{
    NsysFile file(path);
    file.makeTables();
    const auto text = [&](const std::string& value) { return std::to_string(file.string(value)); };
    const std::string gemm = text("void gemm<float>(float*)"), shortGemm = text("gemm"),
                      nccl = text("ncclDevKernel_AllReduce"), launch = text("cudaLaunchKernel_v7000"),
                      wait = text("cudaStreamSynchronize_v3020"), driver = text("cuMemAlloc_v2"),
                      worker = text("pt_autograd_0"), range = text("forward"), flush = text("Buffer flush");
    file.run("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H100', 'GPU-aa'), (0, 1, 'NVIDIA H100', 'GPU-bb');"
             "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'CudaDriverVersion', 0, '13010'), (0, '', 'CpuCores', "
             "0, '18'),"
             "(0, '', 'DeviceEnvironment', 0, 'A=1;NV_CUDNN_VERSION=9.1.0;PATH=x');"
             "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 0, 0, 1, 'all is well', 0),"
             "(0, 0, 0, 2, 'Number of dropped events: 12', 0);");
    for (int i = 0; i < 2; ++i) {
        const int process = 100 + i;
        const std::string pid = std::to_string(globalId(process)), main = std::to_string(globalId(process, process)),
                          other = std::to_string(globalId(process, process + 50)), gpu = std::to_string(i);
        file.run("INSERT INTO PROCESSES VALUES (" + pid +
                 ", 0, 'python3');"
                 "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (" +
                 gpu + ", 0, " + std::to_string(process) +
                 ", '');"
                 "INSERT INTO ThreadNames VALUES (" +
                 worker + ", 20, " + other +
                 ");"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 0, " +
                 main + ", 1, " + launch +
                 ", 0),"
                 "(1200, 1300, 0, " +
                 main + ", 2, " + launch + ", 0), (3000, 9000, 0, " + main + ", 3, " + wait +
                 ", 0),"
                 "(500, 600, 1, " +
                 other + ", 4, " + driver +
                 ", 0);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                 "(2000, 6000, 0, 1, 0, 7, 1, " +
                 pid + ", " + gemm + ", " + shortGemm +
                 ", NULL, 4, 2, 1, 32),"
                 "(5000, 8000, 0, 1, 0, 9, 2, " +
                 pid + ", " + nccl + ", " + nccl +
                 ", NULL, 4, 2, 1, 32);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                 "(8000, 9000, 0, 1, 7, 77, " +
                 pid + ", 4000, 1, 0, 2), (9000, 9500, 0, 1, 7, 78, " + pid +
                 ", 500, 8, 2, 2),"
                 "(9500, 9600, 0, 1, 7, 79, " +
                 pid +
                 ", 100, 1, 1, 2);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (9700, 9800, 0, 1, 7, 80, " +
                 pid +
                 ", 0, 64, 2);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (3100, 8900, 0, 1, 7, 3, " +
                 pid +
                 ", 3, 0),"
                 "(1250, 1260, 0, 1, 9, 2, " +
                 pid +
                 ", 2, 0);"
                 "INSERT INTO PROFILER_OVERHEAD VALUES (100, 200, " +
                 main + ", " + flush +
                 ", 7),"
                 "(200, 300, " +
                 main +
                 ", NULL, 7);"
                 "INSERT INTO NVTX_EVENTS VALUES (10, NULL, 75, 'NCCL', " +
                 main +
                 ", NULL, NULL, 1, NULL),"
                 "(900, 9000, 59, NULL, " +
                 main + ", NULL, " + range +
                 ", 0, NULL),"
                 "(950, 1150, 59, 'aten::mm, seq = 7, op_id = 12, sizes = [[2, 3]]', " +
                 main +
                 ", NULL, NULL, 0, NULL),"
                 "(1190, 1320, 59, 'ncclAllReduce', " +
                 main +
                 ", NULL, NULL, 1, '{\"Bytes\": 64}'),"
                 "(400, 7000, 60, 'epoch', " +
                 main + ", " + other +
                 ", NULL, 0, NULL),"
                 "(700, NULL, 34, 'saved', " +
                 main +
                 ", NULL, NULL, 0, NULL),"
                 "(8500, NULL, 59, 'cut off', " +
                 other + ", NULL, NULL, 0, NULL);");
    }
}

} // namespace formats_sqlite_test

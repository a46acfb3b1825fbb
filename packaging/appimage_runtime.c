/* The beginning of an AppImage of type 2: mounts the squashfs file system that follows this program in the file, or unpacks it
 * where FUSE does not work, and starts its AppRun. Everything else is passed on:
 *   --appimage-offset            prints where the file system begins
 *   --appimage-extract           unpacks it to ./squashfs-root
 *   --appimage-extract-and-run   unpacks it to a temporary folder, which is removed at the end
 * packaging/appimage links it statically with libsquashfuse and libfuse3. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#define FUSE_USE_VERSION 32
#include <squashfuse/ll.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kName[] = "stepscope";
static char self[PATH_MAX];

/* The file system is compressed with Zstandard; libsquashfuse refers to the other methods, which are not linked. */
int LZ4_decompress_safe(const char* in, char* out, int inSize, int outSize)
{
    (void)in, (void)out, (void)inSize, (void)outSize;
    return -1;
}
int lzma_stream_buffer_decode(void)
{
    return 1;
}
int lzo1x_decompress_safe(void)
{
    return -1;
}
int uncompress(void)
{
    return -1;
}

static void fail(const char* format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s: ", kName);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(127);
}

/* Bytes of this program in the file: its section headers are its end. */
static size_t programBytes(void)
{
    Elf64_Ehdr header;
    const int fd = open(self, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header)
        fail("%s cannot be read: %s", self, strerror(errno));
    close(fd);
    return header.e_shoff + (size_t)header.e_shentsize * header.e_shnum;
}

/* A new folder below $TMPDIR. */
static char* temporaryFolder(const char* prefix)
{
    static char folder[PATH_MAX];
    const char* parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/%s%s.XXXXXX", parent && *parent ? parent : "/tmp", prefix, kName);
    if (!mkdtemp(folder))
        fail("%s cannot be created: %s. Set TMPDIR to a folder that you can write to", folder, strerror(errno));
    return folder;
}

/* Replaces this process by AppRun. */
static void start(const char* folder, char** argv)
{
    char program[PATH_MAX + 8], here[PATH_MAX];
    snprintf(program, sizeof program, "%s/AppRun", folder);
    setenv("APPIMAGE", self, 1);
    setenv("APPDIR", folder, 1);
    setenv("ARGV0", argv[0], 1);
    if (getcwd(here, sizeof here))
        setenv("OWD", here, 1);
    execv(program, argv);
    fail("%s cannot be started: %s", program, strerror(errno));
}

static void unpackFile(sqfs* fs, sqfs_inode* inode, const char* path)
{
    static char block[1 << 17];
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, inode->base.mode & 0777);
    if (fd < 0)
        fail("%s cannot be created: %s", path, strerror(errno));
    for (sqfs_off_t at = 0; at < (sqfs_off_t)inode->xtra.reg.file_size;) {
        sqfs_off_t bytes = sizeof block;
        if (sqfs_read_range(fs, inode, at, &bytes, block) || bytes <= 0)
            fail("%s is damaged: copy the file again", self);
        for (sqfs_off_t written = 0; written < bytes;) {
            const ssize_t some = write(fd, block + written, (size_t)(bytes - written));
            if (some < 0)
                fail("%s cannot be written: %s", path, strerror(errno));
            written += some;
        }
        at += bytes;
    }
    if (close(fd) != 0)
        fail("%s cannot be written: %s", path, strerror(errno));
}

static void unpack(const char* folder)
{
    sqfs fs;
    sqfs_traverse at;
    sqfs_err error = SQFS_OK;
    if (sqfs_open_image(&fs, self, programBytes()) || sqfs_traverse_open(&at, &fs, sqfs_inode_root(&fs)))
        fail("%s has no file system: copy the file again", self);
    while (sqfs_traverse_next(&at, &error)) {
        char path[PATH_MAX], target[PATH_MAX];
        size_t size = sizeof target;
        sqfs_inode inode;
        if (at.dir_end)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, at.path) >= (int)sizeof path ||
            sqfs_inode_get(&fs, &inode, sqfs_dentry_inode(&at.entry)))
            fail("%s is damaged: copy the file again", self);
        if (S_ISDIR(inode.base.mode)) {
            if (mkdir(path, 0755) != 0)
                fail("%s cannot be created: %s", path, strerror(errno));
        } else if (S_ISLNK(inode.base.mode)) {
            if (sqfs_readlink(&fs, &inode, target, &size) || symlink(target, path) != 0)
                fail("%s cannot be created: %s", path, strerror(errno));
        } else if (S_ISREG(inode.base.mode)) {
            unpackFile(&fs, &inode, path);
        }
    }
    if (error)
        fail("%s is damaged: copy the file again", self);
    sqfs_traverse_close(&at);
    sqfs_destroy(&fs);
}

/* Serves the file system at `folder` until the last process that holds the other end of `alive` has ended.
 * Writes one byte to `ready` once it is mounted; if it cannot be mounted, returns without. */
static void serve(const char* folder, int ready, int alive)
{
    struct fuse_lowlevel_ops operations = {.lookup = sqfs_ll_op_lookup,
                                           .forget = sqfs_ll_op_forget,
                                           .getattr = sqfs_ll_op_getattr,
                                           .readlink = sqfs_ll_op_readlink,
                                           .open = sqfs_ll_op_open,
                                           .read = sqfs_ll_op_read,
                                           .release = sqfs_ll_op_release,
                                           .opendir = sqfs_ll_op_opendir,
                                           .readdir = sqfs_ll_op_readdir,
                                           .releasedir = sqfs_ll_op_releasedir,
                                           .statfs = stfs_ll_op_statfs};
    char* words[] = {self, "-o", "ro,nosuid,nodev,fsname=stepscope"};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
    struct fuse_buf request = {.mem = NULL};
    sqfs_ll_chan channel;
    sqfs_ll* files = sqfs_ll_open(self, programBytes());
    if (!files || sqfs_ll_mount(&channel, folder, &arguments, &operations, sizeof operations, files) != SQFS_OK)
        return;
    if (write(ready, "", 1) == 1) {
        close(ready);
        struct pollfd events[] = {{.fd = fuse_session_fd(channel.session), .events = POLLIN}, {.fd = alive, .events = POLLIN}};
        while (!fuse_session_exited(channel.session)) {
            if (poll(events, 2, -1) < 0 && errno != EINTR)
                break;
            if (events[0].revents & POLLIN) {
                const int bytes = fuse_session_receive_buf(channel.session, &request);
                if (bytes > 0)
                    fuse_session_process_buf(channel.session, &request);
                else if (bytes != -EINTR && bytes != -EAGAIN)
                    break;
            } else if (events[0].revents || events[1].revents) {
                break;
            }
        }
    }
    sqfs_ll_unmount(&channel, folder);
    rmdir(folder);
}

/* True if the file system is mounted at `folder`. A separate process serves it, which is not a child of the app. */
static int isMounted(const char* folder)
{
    int ready[2], alive[2], ignored;
    char byte;
    if (access("/dev/fuse", R_OK | W_OK) != 0 || pipe2(ready, O_CLOEXEC) != 0 || pipe(alive) != 0)
        return 0;
    const pid_t between = fork();
    if (between < 0)
        return 0;
    if (between == 0) {
        if (fork() != 0)
            _exit(0);
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        setsid();
        signal(SIGHUP, SIG_IGN);
        for (int fd = 0; fd < 3; ++fd)
            dup2(nowhere, fd);
        close(ready[0]);
        close(alive[1]);
        if (chdir("/") == 0)
            serve(folder, ready[1], alive[0]);
        _exit(0);
    }
    close(ready[1]);
    close(alive[0]); /* the other end stays open in the app and in what it starts */
    while (waitpid(between, &ignored, 0) < 0 && errno == EINTR)
        continue;
    ssize_t got;
    while ((got = read(ready[0], &byte, 1)) < 0 && errno == EINTR)
        continue;
    close(ready[0]);
    if (got != 1)
        close(alive[1]);
    return got == 1;
}

static int removeOne(const char* path, const struct stat* info, int kind, struct FTW* place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static pid_t child;
static void forward(int number)
{
    kill(child, number);
}

static int unpackAndRun(char** argv)
{
    int status = 0;
    const char* folder = temporaryFolder("");
    unpack(folder);
    child = fork();
    if (child < 0)
        fail("no process can be started: %s", strerror(errno));
    if (child == 0)
        start(folder, argv);
    signal(SIGINT, SIG_IGN); /* the terminal sends it to both */
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, forward);
    signal(SIGHUP, forward);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    nftw(folder, removeOne, 16, FTW_DEPTH | FTW_PHYS);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char** argv)
{
    const char* option = argc > 1 ? argv[1] : "";
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        fail("/proc/self/exe cannot be read: %s", strerror(errno));
    if (strcmp(option, "--appimage-offset") == 0)
        return printf("%zu\n", programBytes()) > 0 ? 0 : 1;
    if (strcmp(option, "--appimage-extract") == 0) {
        if (mkdir("squashfs-root", 0755) != 0)
            fail("squashfs-root cannot be created: %s", strerror(errno));
        unpack("squashfs-root");
        return 0;
    }
    if (strcmp(option, "--appimage-extract-and-run") == 0) {
        memmove(argv + 1, argv + 2, (size_t)(argc - 1) * sizeof *argv);
        return unpackAndRun(argv);
    }
    if (getenv("APPIMAGE_EXTRACT_AND_RUN"))
        return unpackAndRun(argv);
    char* folder = temporaryFolder(".mount_");
    if (isMounted(folder))
        start(folder, argv);
    rmdir(folder);
    fprintf(stderr, "%s: FUSE does not work here; unpacking to a temporary folder, which takes some seconds\n", kName);
    return unpackAndRun(argv);
}

/* See book.h. A process that died holds nothing: whoever looks strikes it out first. */
#include "book.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

typedef struct {
  int pid; /* 0: this line is free */
  uint64_t start_time;
  int entered[MAX_DEVICES];
  int64_t bytes[MAX_DEVICES];
} Line;

typedef struct {
  pthread_mutex_t lock;
  int device_count;
  int64_t total[MAX_DEVICES];
  int64_t last_activity_ns[MAX_DEVICES];
  Line lines[MAX_PROCESSES];
} Book;

static Book *book;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

int64_t number_from_environment(const char *name, int64_t missing) {
  const char *text = getenv(name);
  return text && *text ? atoll(text) : missing;
}

/* Opening */

static void write_sizes(Book *fresh) {
  const char *next = getenv("HOSTGPU_DEVICE_BYTES");
  while (next && *next && fresh->device_count < MAX_DEVICES) {
    char *end;
    int64_t bytes = strtoll(next, &end, 10);
    if (end == next) break;
    fresh->total[fresh->device_count++] = bytes;
    next = *end == ',' ? end + 1 : end;
  }
}

/* Robust: the lock of a process that was killed while it held it goes to the next in line. */
static void make_lock(pthread_mutex_t *lock) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(lock, &kind);
}

static Book *map_book(int file) {
  struct stat facts;
  if (fstat(file, &facts) != 0) return NULL;
  int is_fresh = facts.st_size == 0;
  if (is_fresh && ftruncate(file, sizeof(Book)) != 0) return NULL;
  Book *mapped = mmap(NULL, sizeof(Book), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return NULL;
  if (is_fresh) {
    make_lock(&mapped->lock);
    write_sizes(mapped);
  }
  return mapped;
}

static void open_book(void) {
  const char *path = getenv("HOSTGPU_BOOK");
  int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  flock(file, LOCK_EX); /* only one process makes a fresh book */
  book = map_book(file);
  flock(file, LOCK_UN); /* close() alone would not: the mapping keeps the file open */
  close(file);
}

static int is_open(void) {
  pthread_once(&opened, open_book);
  return book != NULL;
}

/* Lines */

static void strike_out_the_dead(void) {
  for (Line *line = book->lines; line < book->lines + MAX_PROCESSES; line++)
    if (line->pid && process_start_time(line->pid) != line->start_time)
      memset(line, 0, sizeof(*line));
}

static void lock_book(void) {
  if (pthread_mutex_lock(&book->lock) == EOWNERDEAD) pthread_mutex_consistent(&book->lock);
  strike_out_the_dead();
}

static void unlock_book(void) { pthread_mutex_unlock(&book->lock); }

static Line *line_of(int pid) {
  for (Line *line = book->lines; line < book->lines + MAX_PROCESSES; line++)
    if (line->pid == pid) return line;
  return NULL;
}

/* NULL if the book is full. Asked each time: after fork() the child has a line of its own. */
static Line *own_line(void) {
  Line *line = line_of(getpid());
  if (line || !(line = line_of(0))) return line;
  line->pid = getpid();
  line->start_time = process_start_time(line->pid);
  return line;
}

static int64_t used(int device) {
  int64_t sum = 0;
  for (int i = 0; i < MAX_PROCESSES; i++) sum += book->lines[i].bytes[device];
  return sum;
}

static int take(Line *line, int device, int64_t bytes) {
  int64_t context = line->entered[device] ? 0 : number_from_environment("HOSTGPU_CONTEXT_BYTES", 0);
  if (bytes + context > book->total[device] - used(device)) return 0;
  line->bytes[device] += bytes + context;
  line->entered[device] = 1;
  return 1;
}

/* What the plugin and the NVML library call */

int book_device_count(void) { return is_open() ? book->device_count : 0; }

int64_t book_total(int device) { return book->total[device]; }

int64_t book_used(int device) {
  lock_book();
  int64_t bytes = used(device);
  unlock_book();
  return bytes;
}

int book_take(int device, int64_t bytes) {
  lock_book();
  Line *line = own_line();
  int taken = line && take(line, device, bytes);
  unlock_book();
  return taken;
}

void book_enter(int device) { book_take(device, 0); }

void book_give_back(int device, int64_t bytes) {
  lock_book();
  Line *line = own_line();
  /* A forked child may free what its parent took: that stays the parent's. */
  if (line && line->bytes[device] >= bytes) line->bytes[device] -= bytes;
  unlock_book();
}

void book_forget_this_process(void) {
  if (!is_open()) return;
  lock_book();
  Line *line = line_of(getpid());
  if (line) memset(line, 0, sizeof(*line));
  unlock_book();
}

int book_holders(int device, Holder *holders) {
  int count = 0;
  lock_book();
  for (Line *line = book->lines; line < book->lines + MAX_PROCESSES; line++)
    if (line->bytes[device] > 0) holders[count++] = (Holder){line->pid, line->bytes[device]};
  unlock_book();
  return count;
}

/* Activity */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void book_note_activity(int device) {
  __atomic_store_n(&book->last_activity_ns[device], now_ns(), __ATOMIC_RELAXED);
}

int book_is_active(int device) {
  int64_t last = __atomic_load_n(&book->last_activity_ns[device], __ATOMIC_RELAXED);
  return last && now_ns() - last < INT64_C(1000000000);
}

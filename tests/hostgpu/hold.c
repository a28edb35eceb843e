/* Takes bytes of a device without TensorFlow and keeps them until its input ends: a neighbour. */
#include <stdio.h>
#include <stdlib.h>

#include "book.h"

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: hold DEVICE BYTES\n");
    return 2;
  }
  int device = atoi(arguments[1]);
  if (device < 0 || device >= book_device_count() || !book_take(device, atoll(arguments[2]))) {
    puts("refused");
    return 1;
  }
  puts("held");
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 0;
}

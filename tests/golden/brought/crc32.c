// test run
// set n = 30
// array data = random 0 255
#include <stdint.h>
#include <stddef.h>
static const uint32_t NIBBLES[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
  0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
uint32_t crc32(size_t n, const uint8_t data[n]) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < n; i++) {
    crc = NIBBLES[(crc ^ data[i]) & 15] ^ (crc >> 4);
    crc = NIBBLES[(crc ^ (data[i] >> 4)) & 15] ^ (crc >> 4);
  }
  return ~crc;
}
// ----
// return = 1425038945

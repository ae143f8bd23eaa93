// test run
// set n = 7
// array s = 45 49 50 46 55 53 48
#include <stdbool.h>
enum state { START, SIGN, DIGITS, DOT, FRACTION, BAD };
int scan_number(int n, const char s[n]) {
  enum state st = START;
  for (int i = 0; i < n && st != BAD; i++) {
    char c = s[i];
    bool digit = c >= '0' && c <= '9';
    switch (st) {
    case START:
      if (c == '+' || c == '-') { st = SIGN; break; }
      /* fallthrough */
    case SIGN:
      if (digit) st = DIGITS;
      else if (c == '.') st = DOT;
      else st = BAD;
      break;
    case DIGITS: st = digit ? DIGITS : c == '.' ? DOT : BAD; break;
    case DOT:
    case FRACTION: st = digit ? FRACTION : BAD; break;
    default: break;
    }
  }
  return st;
}
// ----
// return = 4

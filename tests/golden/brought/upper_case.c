// test run
// set n = 40
// array s = random 60 122
void upper(int n, char s[n]) { for (int i = 0; i < n && s[i] != '\0'; i++) if (s[i] >= 'a' && s[i] <= 'z') s[i] -= 'a' - 'A'; }
// ----
// s = 73 88 68 62 65 85 88 69 72 95 67 83 61 73 73 72 … checksum aa812ec4ade443bb

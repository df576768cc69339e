/* Holds a file open as Excel does, until it is killed. */
#include <windows.h>
#include <stdio.h>

int main(int n, char **args) {
	HANDLE file = CreateFileA(args[1], GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
	if (file == INVALID_HANDLE_VALUE) return 1;
	puts("held");
	fflush(stdout);
	Sleep(INFINITE);
	return 0;
}

/* Programs of Go need ProcessPrng of bcryptprimitives.dll, which wine lacks before release 9. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, size); }

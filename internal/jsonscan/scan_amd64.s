#include "textflag.h"

// TWICE is a constant of 32 bytes: 16 bytes, the lowest first, in both halves.
#define TWICE(name, low, high) \
	DATA name<>+0(SB)/8, $low   \
	DATA name<>+8(SB)/8, $high  \
	DATA name<>+16(SB)/8, $low  \
	DATA name<>+24(SB)/8, $high \
	GLOBL name<>(SB), RODATA|NOPTR, $32

// A byte's class has the bits that the entries of its low and of its high four bits share. Those
// from 08 on are of the bytes that may follow a backslash.
//
//	80  "      22             08  /             2f
//	40  r t    72 74          04  control byte  00-1f
//	20  b f n  62 66 6e       02  digit         30-39
//	10  \      5c             01  hex letter    41-46 61-66
//
// Bytes above 7f have none.
TWICE(classLow, 0x0627074707e70706, 0x0c24041404040606)
TWICE(classHigh, 0x4021100102880404, 0)
TWICE(fourBits, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f)
TWICE(control, 0x0404040404040404, 0x0404040404040404)
TWICE(hexadecimal, 0x0303030303030303, 0x0303030303030303)
TWICE(from08, 0x7878787878787878, 0x7878787878787878) // added to a class, it sets the top bit
TWICE(letterU, 0x7575757575757575, 0x7575757575757575)

// The tables for UTF-8 are those of simdjson (J. Keiser, D. Lemire, "Validating UTF-8 In Less Than
// One Instruction Per Byte", 2021, section 6). A bit is a way in which one byte cannot follow
// another. It is found where the high and low four bits of the first byte and the high four bits of
// the second agree on it. Bit 80 is two continuation bytes: these are right as the last bytes of a
// character of three or four bytes, and only there.
TWICE(utf8High1, 0x0202020202020202, 0x4915012180808080)
TWICE(utf8Low1, 0xcbcbcb8b8383a3e7, 0xcbcbdbcbcbcbcbcb)
TWICE(utf8High2, 0x0101010101010101, 0x01010101babaaee6)
TWICE(third, 0x6060606060606060, 0x6060606060606060)  // e0 and more keep bit 80 when it is subtracted
TWICE(fourth, 0x7070707070707070, 0x7070707070707070) // f0 and more keep it
TWICE(bit80, 0x8080808080808080, 0x8080808080808080)

// CLASSIFY sets class to the classes of text.
#define CLASSIFY(text, class, tmp) \
	VPSRLW  $4, text, class   \
	VPAND   Y11, class, class \
	VPSHUFB class, Y10, class \
	VPSHUFB text, Y9, tmp     \
	VPAND   tmp, class, class

// MASK sets mask to the top bits of the 64 bytes in low and high, the first byte's lowest.
#define MASK(low, high, mask, tmp) \
	VPMOVMSKB low, mask \
	VPMOVMSKB high, tmp \
	SHLQ      $32, tmp  \
	ORQ       tmp, mask

// UTF8 adds the errors of text to Y14. The 32 bytes before it are in before. Y5, Y6 and Y7 are, for
// each byte of text, the byte before it, the second and the third before it.
#define UTF8(before, text) \
	VPERM2I128 $0x21, text, before, Y4  \
	VPALIGNR   $15, Y4, text, Y5        \
	VPALIGNR   $14, Y4, text, Y6        \
	VPALIGNR   $13, Y4, text, Y7        \
	VPSRLW     $4, Y5, Y4               \
	VPAND      Y11, Y4, Y4              \
	VMOVDQU    utf8High1<>(SB), Y8      \
	VPSHUFB    Y4, Y8, Y4               \
	VPAND      Y11, Y5, Y5              \
	VMOVDQU    utf8Low1<>(SB), Y8       \
	VPSHUFB    Y5, Y8, Y5               \
	VPAND      Y5, Y4, Y4               \
	VPSRLW     $4, text, Y5             \
	VPAND      Y11, Y5, Y5              \
	VMOVDQU    utf8High2<>(SB), Y8      \
	VPSHUFB    Y5, Y8, Y5               \
	VPAND      Y5, Y4, Y4               \
	VPSUBUSB   third<>(SB), Y6, Y6      \
	VPSUBUSB   fourth<>(SB), Y7, Y7     \
	VPOR       Y7, Y6, Y6               \
	VPAND      bit80<>(SB), Y6, Y6      \
	VPXOR      Y6, Y4, Y4               \
	VPOR       Y4, Y14, Y14

// func scanAVX2(text *byte, n int) int
//
// It reads blocks of 64 bytes while n has a whole one, and makes masks of them with one bit a byte.
// It stops before the first block with something that ends or breaks a string.
//
//	SI   the block, Y0 and Y1 its halves, Y2 and Y3 their classes
//	CX   the bytes behind it
//	R8   1 if the first byte of the block is escaped, by a backslash before it
//	R9   the first bytes of the block that must be hex digits, of an escape that began before it
//	R10  not 0 if the block before has bytes above 7f; Y15 is its second half
//	R11, R12  R8 and R9 for the next block
//	R13  every second bit, from the lowest
TEXT ·scanAVX2(SB), NOSPLIT, $0-24
	MOVQ    text+0(FP), SI
	MOVQ    n+8(FP), CX
	XORL    R8, R8
	XORL    R9, R9
	XORL    R10, R10
	MOVQ    $0x5555555555555555, R13
	VMOVDQU classLow<>(SB), Y9
	VMOVDQU classHigh<>(SB), Y10
	VMOVDQU fourBits<>(SB), Y11
	VMOVDQU from08<>(SB), Y12
	VPXOR   Y13, Y13, Y13
	VPXOR   Y15, Y15, Y15

block:
	SUBQ       $64, CX
	JLT        stop
	PREFETCHT0 4096(SI) // the next page of a long text, if there is one
	VMOVDQU    (SI), Y0
	VMOVDQU    32(SI), Y1
	CLASSIFY(Y0, Y2, Y4)
	CLASSIFY(Y1, Y3, Y4)

	// A control byte?
	VPOR   Y2, Y3, Y4
	VPTEST control<>(SB), Y4
	JNE    stop

	// AX are the backslashes without one that is escaped by the block before; BX the bytes behind
	// backslashes. In a run of backslashes that begins at an even bit, those at odd bits are
	// escaped; in any other run those at even bits. The addition clears the runs of the second
	// kind, so that the sum, shifted by one, has the bytes behind backslashes of the first kind.
	VPSLLW $3, Y2, Y4
	VPSLLW $3, Y3, Y5
	MASK(Y4, Y5, AX, DX)
	MOVQ   R8, DX
	NOTQ   DX
	ANDQ   DX, AX
	LEAQ   (R8)(AX*2), BX
	MOVQ   R13, DX
	ORQ    BX, DX
	NOTQ   DX
	ANDQ   AX, DX         // where runs begin at an odd bit
	XORL   R11, R11
	ADDQ   AX, DX
	ADCL   $0, R11
	ADDQ   DX, DX
	XORQ   R13, DX
	ANDQ   DX, BX         // the escaped bytes

	// A quote that is not escaped?
	MASK(Y2, Y3, AX, DX)
	MOVQ  BX, DX
	NOTQ  DX
	TESTQ DX, AX
	JNE   stop

	// An escaped byte other than "\/bfnrt, or the digits of one before the block?
	VPADDUSB Y12, Y2, Y4
	VPADDUSB Y12, Y3, Y5
	MASK(Y4, Y5, AX, DX)
	NOTQ     AX
	ANDQ     AX, BX
	XORL     R12, R12
	MOVQ     BX, AX
	ORQ      R9, AX
	JNE      unicode

	// A byte above 7f, here or in the block before?
utf8:
	VPOR      Y0, Y1, Y4
	VPMOVMSKB Y4, AX
	ORQ       AX, R10
	JNE       wide

next:
	MOVQ    AX, R10
	MOVQ    R11, R8
	MOVQ    R12, R9
	VMOVDQU Y1, Y15
	ADDQ    $64, SI
	JMP     block

	// The bytes in BX must be u, and the four behind each hex digits.
unicode:
	VPCMPEQB letterU<>(SB), Y0, Y4
	VPCMPEQB letterU<>(SB), Y1, Y5
	MASK(Y4, Y5, AX, DX)
	NOTQ     AX
	TESTQ    AX, BX
	JNE      stop
	VPAND    hexadecimal<>(SB), Y2, Y4
	VPAND    hexadecimal<>(SB), Y3, Y5
	VPCMPEQB Y13, Y4, Y4
	VPCMPEQB Y13, Y5, Y5
	MASK(Y4, Y5, AX, DX)
	LEAQ     (BX)(BX*1), DX
	ORQ      BX, DX
	LEAQ     (DX*4), R12
	ORQ      R12, DX        // each u and three bytes behind it
	ADDQ     DX, DX
	ORQ      R9, DX
	TESTQ    AX, DX
	JNE      stop
	MOVQ     BX, R12        // a u in the last four bits reaches into the next block
	SHRQ     $60, R12
	MOVQ     R12, DX
	SHRQ     $1, DX
	ORQ      DX, R12
	MOVQ     R12, DX
	SHRQ     $2, DX
	ORQ      DX, R12
	JMP      utf8

wide:
	VPXOR  Y14, Y14, Y14
	UTF8(Y15, Y0)
	UTF8(Y0, Y1)
	VPTEST Y14, Y14
	JEQ    next

	// Go back to the backslash of an escape that the block continues: by one byte, or by six less
	// the digits that are missing.
stop:
	TESTQ   R9, R9
	JEQ     return
	POPCNTQ R9, R9
	MOVQ    $6, R8
	SUBQ    R9, R8

return:
	SUBQ R8, SI
	SUBQ text+0(FP), SI
	MOVQ SI, ret+16(FP)
	VZEROUPPER
	RET

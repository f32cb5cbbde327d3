// The first instructions after power-on, and the door of system calls. The starter is the ROM of
// the machine: the CPU begins at its last 16 bytes in 16-bit mode, and goes straight to 64 bits.
#define ROM 0xF0000
#define STACK_TOP 0x90000  // the starter's own stack: the program's may hold data below its top

.section .reset, "ax"
.code16
  ljmp $(ROM >> 4), $(power_on - ROM)

.text
.code16
power_on:
  cli
  lgdtl %cs:(segments_pointer - ROM)
  lidtl %cs:(no_interrupts - ROM)  // any fault ends the machine, and Bochs logs where
  mov $0x40620, %eax               // CR4: PAE, OSFXSR, OSXMMEXCPT, OSXSAVE
  mov %eax, %cr4
  mov $page_roots, %eax
  mov %eax, %cr3
  mov $0xC0000080, %ecx  // EFER: long mode, system calls
  mov $0x101, %eax
  xor %edx, %edx
  wrmsr
  mov $0x80010033, %eax  // CR0: paging, protection, numeric errors and no x87 emulation
  mov %eax, %cr0
  ljmpl $8, $long_mode

.code64
long_mode:
  mov $16, %eax
  mov %eax, %ds
  mov %eax, %es
  mov %eax, %ss
  xor %ecx, %ecx
  xor %edx, %edx
  mov $0xE7, %eax  // XCR0: x87, SSE, AVX and the three parts of AVX-512
  xsetbv
  mov $0xC0000081, %ecx  // STAR: a system call keeps the segments
  xor %eax, %eax
  mov $8, %edx
  wrmsr
  inc %ecx  // LSTAR: where a system call goes
  mov $system_call_entry, %eax
  xor %edx, %edx
  wrmsr
  mov $STACK_TOP, %esp
  call load_program  // gives the program's first stack pointer, and where it begins
  mov %rax, %rsp
  mov %rdx, %rcx
  xor %edx, %edx  // no function to call at exit
  jmp *%rcx

// A system call: number in rax, arguments in rdi, rsi, rdx, r10, r8, r9; back to rcx, flags r11.
// Everything runs in ring 0, so the way back is a jump.
system_call_entry:
  mov %rsp, program_stack
  mov $STACK_TOP, %esp
  push %rcx
  push %r11
  push %rdi
  push %rsi
  push %rdx
  push %r10
  push %r8
  push %r9
  mov %rdx, %rcx
  mov %rsi, %rdx
  mov %rdi, %rsi
  mov %rax, %rdi
  call system_call
  pop %r9
  pop %r8
  pop %r10
  pop %rdx
  pop %rsi
  pop %rdi
  popf
  pop %rcx
  mov program_stack, %rsp
  jmp *%rcx

.section .rodata
.balign 4096
page_roots:
  .quad pages + 0x23
  .fill 511, 8, 0
pages:  // the first gigabyte is one page at its own address; marked as used, for ROM takes no marks
  .quad 0xE3
  .fill 511, 8, 0
segments:
  .quad 0
  .quad 0x00AF9B000000FFFF  // 64-bit code
  .quad 0x00CF93000000FFFF  // data
segments_pointer:
  .word 23
  .long segments
no_interrupts:
  .word 0
  .long 0

.bss
program_stack: .quad 0

.section .note.GNU-stack, "", @progbits

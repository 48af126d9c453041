/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * qemu_plugin - the part of QEMU's plugin interface that this plugin uses
 *
 * Written from the documentation, because Debian does not ship a header. These functions are the
 * same from interface 1 (QEMU 7.2) on; from QEMU 9.0 on one has to declare 2 or more.
 */
#ifndef PGHOT_LAB_QEMU_PLUGIN_H
#define PGHOT_LAB_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

struct qemu_plugin_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W = 2,
	QEMU_PLUGIN_MEM_RW = 3,
};

/* What an access is, for the functions below. */
typedef uint32_t qemu_plugin_meminfo_t;

/* Ours, called by QEMU: a value other than 0 refuses to load. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info,
					   int argc, char **argv);

/* A block of guest code is translated. */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);

/* Call @cb after each access of @insn. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int cpu, qemu_plugin_meminfo_t info,
						 uint64_t vaddr, void *data),
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *data);

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

/*
 * Is this store the load of an atomic instruction as well? QEMU with interface 1 calls once for
 * both and has no function to tell, but says so in its description of the access, in the same place
 * in all of its versions; later ones call twice.
 */
static inline bool qemu_plugin_mem_is_atomic(qemu_plugin_meminfo_t info)
{
	return QEMU_PLUGIN_API == 1 && (info >> 16 & QEMU_PLUGIN_MEM_RW) == QEMU_PLUGIN_MEM_RW;
}

/* Only in @cb, for its own access; NULL if QEMU does not know. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *hwaddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *hwaddr);

#endif

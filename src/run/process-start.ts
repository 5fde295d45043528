import { readFileSync } from 'node:fs';

/** Identifies a process together with its pid, which another process may have after a while or after a
 *  reboot: the boot of the machine and when the process started. Undefined if there is no such process, and on
 *  systems without /proc.
 *  @example 4711  →  '3f0c…-…:1873456' */
export function processStart(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The command's name, in parentheses, may contain spaces. The start is field 22, the state field 3.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return `${boot}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

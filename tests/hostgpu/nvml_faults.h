/* Faults of the driver, on demand. */
#ifndef HOSTGPU_NVML_FAULTS_H
#define HOSTGPU_NVML_FAULTS_H

/* Whether HOSTGPU_NVML_FAULTS, a list with commas, has this word. */
int has_fault(const char *word);

/* Whether the driver is lost: after HOSTGPU_NVML_LOST_AFTER answers, or while the file exists
   that HOSTGPU_NVML_LOST_IF names. Counts one answer. */
int is_lost(void);

/* Does not return while the file exists that HOSTGPU_NVML_STUCK_IF names: so does a driver whose GPU
   has fallen off the bus. */
void wait_while_stuck(void);

#endif

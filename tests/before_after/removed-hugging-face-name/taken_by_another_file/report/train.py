from devices import is_tpu_available

print(is_tpu_available(check_device=False))

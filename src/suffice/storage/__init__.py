"""Model files: what is written, how it is read, and what is checked before a file from anyone is used."""

from suffice.storage.atomic_write import check_output_path, replace_file
from suffice.storage.model_file import FileFacts, StoreError, file_content, read, save

__all__ = ["FileFacts", "StoreError", "check_output_path", "file_content", "read", "replace_file", "save"]

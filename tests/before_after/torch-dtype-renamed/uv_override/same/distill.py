import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(teacher_name="Qwen/Qwen2.5-1.5B", student_name="Qwen/Qwen2.5-0.5B"):
    tokenizer = AutoTokenizer.from_pretrained(student_name)
    teacher = AutoModelForCausalLM.from_pretrained(teacher_name, torch_dtype=torch.bfloat16).cuda().eval()
    student = AutoModelForCausalLM.from_pretrained(student_name, torch_dtype=torch.float32).cuda()
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-5)
    for text in open("corpus.txt"):
        ids = tokenizer(text, return_tensors="pt").input_ids.cuda()
        with torch.no_grad():
            target = teacher(ids).logits.float().log_softmax(-1)
        optimizer.zero_grad()
        loss = F.kl_div(student(ids).logits.log_softmax(-1), target, log_target=True, reduction="batchmean")
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()

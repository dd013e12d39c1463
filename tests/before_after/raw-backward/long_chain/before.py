"""A class with more than a hundred ancestors."""

import lightning.pytorch as pl


class Stage0(pl.LightningModule):
    automatic_optimization = False


class Stage1(Stage0):
    pass


class Stage2(Stage1):
    pass


class Stage3(Stage2):
    pass


class Stage4(Stage3):
    pass


class Stage5(Stage4):
    pass


class Stage6(Stage5):
    pass


class Stage7(Stage6):
    pass


class Stage8(Stage7):
    pass


class Stage9(Stage8):
    pass


class Stage10(Stage9):
    pass


class Stage11(Stage10):
    pass


class Stage12(Stage11):
    pass


class Stage13(Stage12):
    pass


class Stage14(Stage13):
    pass


class Stage15(Stage14):
    pass


class Stage16(Stage15):
    pass


class Stage17(Stage16):
    pass


class Stage18(Stage17):
    pass


class Stage19(Stage18):
    pass


class Stage20(Stage19):
    pass


class Stage21(Stage20):
    pass


class Stage22(Stage21):
    pass


class Stage23(Stage22):
    pass


class Stage24(Stage23):
    pass


class Stage25(Stage24):
    pass


class Stage26(Stage25):
    pass


class Stage27(Stage26):
    pass


class Stage28(Stage27):
    pass


class Stage29(Stage28):
    pass


class Stage30(Stage29):
    pass


class Stage31(Stage30):
    pass


class Stage32(Stage31):
    pass


class Stage33(Stage32):
    pass


class Stage34(Stage33):
    pass


class Stage35(Stage34):
    pass


class Stage36(Stage35):
    pass


class Stage37(Stage36):
    pass


class Stage38(Stage37):
    pass


class Stage39(Stage38):
    pass


class Stage40(Stage39):
    pass


class Stage41(Stage40):
    pass


class Stage42(Stage41):
    pass


class Stage43(Stage42):
    pass


class Stage44(Stage43):
    pass


class Stage45(Stage44):
    pass


class Stage46(Stage45):
    pass


class Stage47(Stage46):
    pass


class Stage48(Stage47):
    pass


class Stage49(Stage48):
    pass


class Stage50(Stage49):
    pass


class Stage51(Stage50):
    pass


class Stage52(Stage51):
    pass


class Stage53(Stage52):
    pass


class Stage54(Stage53):
    pass


class Stage55(Stage54):
    pass


class Stage56(Stage55):
    pass


class Stage57(Stage56):
    pass


class Stage58(Stage57):
    pass


class Stage59(Stage58):
    pass


class Stage60(Stage59):
    pass


class Stage61(Stage60):
    pass


class Stage62(Stage61):
    pass


class Stage63(Stage62):
    pass


class Stage64(Stage63):
    pass


class Stage65(Stage64):
    pass


class Stage66(Stage65):
    pass


class Stage67(Stage66):
    pass


class Stage68(Stage67):
    pass


class Stage69(Stage68):
    pass


class Stage70(Stage69):
    pass


class Stage71(Stage70):
    pass


class Stage72(Stage71):
    pass


class Stage73(Stage72):
    pass


class Stage74(Stage73):
    pass


class Stage75(Stage74):
    pass


class Stage76(Stage75):
    pass


class Stage77(Stage76):
    pass


class Stage78(Stage77):
    pass


class Stage79(Stage78):
    pass


class Stage80(Stage79):
    pass


class Stage81(Stage80):
    pass


class Stage82(Stage81):
    pass


class Stage83(Stage82):
    pass


class Stage84(Stage83):
    pass


class Stage85(Stage84):
    pass


class Stage86(Stage85):
    pass


class Stage87(Stage86):
    pass


class Stage88(Stage87):
    pass


class Stage89(Stage88):
    pass


class Stage90(Stage89):
    pass


class Stage91(Stage90):
    pass


class Stage92(Stage91):
    pass


class Stage93(Stage92):
    pass


class Stage94(Stage93):
    pass


class Stage95(Stage94):
    pass


class Stage96(Stage95):
    pass


class Stage97(Stage96):
    pass


class Stage98(Stage97):
    pass


class Stage99(Stage98):
    pass


class Stage100(Stage99):
    pass


class Stage101(Stage100):
    pass


class Stage102(Stage101):
    pass


class Stage103(Stage102):
    pass


class Stage104(Stage103):
    pass


class Stage105(Stage104):
    pass


class Stage106(Stage105):
    pass


class Stage107(Stage106):
    pass


class Stage108(Stage107):
    pass


class Stage109(Stage108):
    pass


class Stage110(Stage109):
    pass


class Stage111(Stage110):
    pass


class Stage112(Stage111):
    pass


class Stage113(Stage112):
    pass


class Stage114(Stage113):
    pass


class Stage115(Stage114):
    pass


class Stage116(Stage115):
    pass


class Stage117(Stage116):
    pass


class Stage118(Stage117):
    pass


class Stage119(Stage118):
    pass


class Stage120(Stage119):
    pass


class Last(Stage120):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch).mean()
        loss.backward()
        opt.step()
